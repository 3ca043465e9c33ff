// Transfers. A file is written beside its final name, hashed as it arrives and
// renamed once it is right. A mirror that stops sending would hang a build for
// ever, so silence is bounded; the total time is not, since links are slow.

package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	attempts   = 3
	maxSilence = time.Minute
)

// A Fetcher transfers files over http, through apt's proxy.
type Fetcher struct {
	client *http.Client
	pause  func(attempt int) // between attempts
	say    func(what string) // before each transfer
}

// NewFetcher returns a Fetcher that tells say what it is about to transfer.
func NewFetcher(conf Config, say func(what string)) *Fetcher {
	transport := &http.Transport{
		Proxy:                 conf.proxy,
		DialContext:           (&net.Dialer{Timeout: maxSilence / 4}).DialContext,
		TLSHandshakeTimeout:   maxSilence / 4,
		ResponseHeaderTimeout: maxSilence,
		DisableCompression:    true, // hashes are of the stored bytes
	}
	return &Fetcher{
		client: &http.Client{Transport: transport},
		pause:  func(attempt int) { time.Sleep(time.Duration(attempt) * time.Second) },
		say:    say,
	}
}

// errFinal marks an answer that asking again does not change.
var errFinal = errors.New("final")

// join appends a relative path to a base, escaping what a URL must escape.
func join(base, rel string) string {
	return strings.TrimRight(base, "/") + "/" + (&url.URL{Path: rel}).EscapedPath()
}

// File makes dst hold the file at base/rel. It does nothing when dst already
// has the right size and hash.
func (f *Fetcher) File(base, rel, dst string, want Sum) error {
	if Matches(dst, want) {
		return nil
	}
	f.say(fmt.Sprintf("fetch %s (%.1f MB)", rel, float64(want.Size)/1e6))
	return f.retry(func() error {
		return WriteFile(dst, func(w io.Writer) error {
			h := newSummer(want)
			if err := f.transfer(join(base, rel), io.MultiWriter(w, h), want.Size); err != nil {
				return err
			}
			return h.check()
		})
	})
}

// Bytes returns the file at base/rel, which must not be longer than limit.
func (f *Fetcher) Bytes(base, rel string, limit int64) ([]byte, error) {
	var buf bytes.Buffer
	err := f.retry(func() error {
		buf.Reset()
		return f.transfer(join(base, rel), &buf, limit)
	})
	return buf.Bytes(), err
}

func (f *Fetcher) retry(try func() error) error {
	for n := 1; ; n++ {
		err := try()
		if err == nil || errors.Is(err, errFinal) || n == attempts {
			return err
		}
		f.pause(n)
	}
}

// transfer copies one http answer to w, up to limit bytes.
func (f *Fetcher) transfer(addr string, w io.Writer, limit int64) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, addr, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", err, errFinal)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return statusError(addr, resp)
	}
	watch := time.AfterFunc(maxSilence, func() { cancel(fmt.Errorf("nothing arrived for %v", maxSilence)) })
	defer watch.Stop()
	n, err := io.Copy(w, io.LimitReader(&noisy{resp.Body, watch}, limit+1))
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		return fmt.Errorf("%s: %w", addr, err)
	}
	if n > limit {
		return fmt.Errorf("%s: longer than %d bytes", addr, limit)
	}
	return nil
}

// statusError is final for what the server knows it does not have.
func statusError(addr string, resp *http.Response) error {
	if resp.StatusCode >= 400 && resp.StatusCode < 500 {
		return fmt.Errorf("%s: %s: %w", addr, resp.Status, errFinal)
	}
	return fmt.Errorf("%s: %s", addr, resp.Status)
}

// noisy puts off the watch whenever something arrives.
type noisy struct {
	r     io.Reader
	watch *time.Timer
}

func (n *noisy) Read(p []byte) (int, error) {
	k, err := n.r.Read(p)
	if k > 0 {
		n.watch.Reset(maxSilence)
	}
	return k, err
}
