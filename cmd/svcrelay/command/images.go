// From sources to scanned images: one reader, as many scanners as there are
// cores, results in the order of the sources. What waits in memory is one image
// for each scanner and one being read, and the results of a few, however many
// there are: behind an image that takes long the others may not pile up.

package command

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"sync"

	"github.com/spf13/cobra"

	"svcrelay/cachefmt"
	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
	"svcrelay/scanner/source"
)

// imageFlags are the flags of every command that reads images.
type imageFlags struct {
	globs  []string
	window int
	jobs   int
}

func (f *imageFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.globs, "image", nil, "look also at images whose name or path matches `GLOB`")
	cmd.Flags().IntVar(&f.window, "window", scanner.DefaultWindow, fmt.Sprintf("read `N` words before each svc, 1 to %d", cachefmt.MaxWindow))
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "scan `N` images at once; 0: one on each core")
}

func (f *imageFlags) check() error {
	for _, g := range f.globs {
		if _, err := path.Match(g, ""); err != nil {
			return usagef("--image %q: malformed", g)
		}
	}
	if f.window < 1 || f.window > cachefmt.MaxWindow {
		return usagef("--window %d: must be 1 to %d", f.window, cachefmt.MaxWindow)
	}
	switch {
	case f.jobs < 0:
		return usagef("--jobs %d: must not be negative", f.jobs)
	case f.jobs == 0:
		f.jobs = runtime.GOMAXPROCS(0)
	}
	return nil
}

// An image is one image of a source.
type image struct {
	source string // as the user named it
	path   string // in the source
	kind   source.Kind
	err    error // why nothing could be made of it
}

// name is what messages call the image.
func (m *image) name() string {
	if m.kind == source.File {
		return source.Printable(m.source)
	}
	if m.source == "/" {
		return source.Printable("/" + m.path)
	}
	return source.Printable(m.source) + ": " + source.Printable(m.path)
}

// otherMachine reports whether the image is a library of another architecture,
// as a rootfs may hold beside its own.
func (m *image) otherMachine() bool {
	return errors.Is(m.err, elfimg.ErrMachine) || errors.Is(m.err, elfimg.ErrClass) || errors.Is(m.err, elfimg.ErrEndian)
}

// perScanner is how many images, for each scanner, may be scanned or wait for
// their turn.
const perScanner = 4

// A job is one image on its way; seq is its place in the order of the sources.
type job[T any] struct {
	image
	seq  int
	raw  []byte
	made T
}

// each scans every image of the sources and calls yield for each, in order and
// from one goroutine, with what work made of it. work runs on the scanners; what
// it returns is all that is kept. Problems of sources go to r.
func each[T any](ctx context.Context, f *imageFlags, r *reporter, sources []string,
	work func(image, *elfimg.Image, *scanner.Result) (T, error), yield func(*image, T)) error {
	jobs, results, problems := make(chan job[T]), make(chan job[T]), make(chan error)
	flying := make(chan struct{}, perScanner*f.jobs) // holds one for each image that was sent and not yielded
	go func() {
		defer close(jobs)
		defer close(problems)
		readImages(ctx, f.globs, sources, problems, func(j job[T]) error {
			return launch(ctx, j, jobs, flying)
		})
	}()
	var scanners sync.WaitGroup
	for range f.jobs {
		scanners.Go(func() {
			for j := range jobs {
				j.scan(f.window, work)
				results <- j
			}
		})
	}
	go func() {
		scanners.Wait()
		close(results)
	}()
	inOrder(r, results, problems, func(m *image, made T) {
		yield(m, made)
		<-flying
	})
	if ctx.Err() != nil {
		r.progress.clear()
	}
	return ctx.Err()
}

// launch sends a job when there is room for its result.
func launch[T any](ctx context.Context, j job[T], jobs chan<- job[T], flying chan<- struct{}) error {
	select {
	case flying <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case jobs <- j:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// inOrder passes results on by seq until both channels are closed.
func inOrder[T any](r *reporter, results <-chan job[T], problems <-chan error, yield func(*image, T)) {
	waiting := map[int]job[T]{}
	for next := 0; results != nil || problems != nil; {
		select {
		case err, ok := <-problems:
			if !ok {
				problems = nil
				continue
			}
			r.fail(err)
		case j, ok := <-results:
			if !ok {
				results = nil
				continue
			}
			waiting[j.seq] = j
		}
		for j, ok := waiting[next]; ok; j, ok = waiting[next] {
			delete(waiting, next)
			next++
			r.progress.show("%s", counted(next, "image"))
			yield(&j.image, j.made)
		}
	}
}

// readImages walks the sources and sends their images.
func readImages[T any](ctx context.Context, globs, sources []string, problems chan<- error, send func(job[T]) error) {
	seq := 0
	for _, name := range sources {
		kind, err := source.Detect(name)
		if err != nil {
			problems <- err
			continue
		}
		before := seq
		opt := source.Options{Globs: globs, Libraries: name == "/", OnError: func(err error) { problems <- err }}
		err = source.Walk(ctx, name, opt, func(m source.Image) error {
			seq++
			return send(job[T]{image: image{source: name, path: m.Path, kind: kind}, seq: seq - 1, raw: m.Data})
		})
		if ctx.Err() != nil {
			return
		}
		if err == nil && seq == before {
			err = fmt.Errorf("%s: no libc.so.6 or ld-linux-aarch64.so.1 in it (--image GLOB looks for others)", source.Printable(name))
		}
		if err != nil {
			problems <- err
		}
	}
}

// scan makes what is wanted of one image and drops its bytes.
func (j *job[T]) scan(window int, work func(image, *elfimg.Image, *scanner.Result) (T, error)) {
	img, err := elfimg.New(j.raw)
	var result *scanner.Result
	if err == nil {
		result, err = scanner.Scan(img, scanner.Options{Window: window})
	}
	if err == nil {
		j.made, err = work(j.image, img, result)
	}
	if err != nil {
		j.err = fmt.Errorf("%s: %w", j.name(), err)
	}
	j.raw = nil
}
