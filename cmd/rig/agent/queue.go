// Standard input that has arrived. The reader of the channel must never wait
// for a program that does not read: all other commands would wait with it. So
// there is no bound but the machine's memory.

package main

import (
	"io"
	"sync"
)

type queue struct {
	mu     sync.Mutex
	more   *sync.Cond
	chunks [][]byte
	ended  bool
}

func newQueue() *queue {
	q := &queue{}
	q.more = sync.NewCond(&q.mu)
	return q
}

// put adds bytes; none of them is the end.
func (q *queue) put(p []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(p) == 0 {
		q.ended = true
	} else {
		q.chunks = append(q.chunks, p)
	}
	q.more.Signal()
}

func (q *queue) Read(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.chunks) == 0 {
		if q.ended {
			return 0, io.EOF
		}
		q.more.Wait()
	}
	n := copy(p, q.chunks[0])
	if q.chunks[0] = q.chunks[0][n:]; len(q.chunks[0]) == 0 {
		q.chunks = q.chunks[1:]
	}
	return n, nil
}
