package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// liveLook is how often the lock of another run is read.
const liveLook = 500 * time.Millisecond

// unlocked waits while the process of the open run is alive: such a run needs no recovery. It
// returns at once if the lock is free, and else when the holder has not renewed it for its
// duration. alive means that the run is alive and that unlocked did not wait, since nothing is to
// be written.
func (o *installOptions) unlocked(ctx context.Context, c *installCluster, installation install.Installation) (alive bool, err error) {
	h, held, err := install.ReadHolder(ctx, c.Config, installation)
	if err != nil || !held {
		return false, nil //nolint:nilerr // what may not be read is met again when the lock is taken
	}
	if o.dryRun != "none" || o.printRBAC {
		if alive = h.ValidAt(o.env.Now()); alive {
			fmt.Fprintf(o.env.ErrOut, "a run on %s by %s is running since %s: what follows is based on the current state\n",
				safe(installation.Name), safe(h.Holder), h.Acquired.UTC().Format(time.RFC3339))
		}
		return alive, nil
	}
	if o.noWait && h.ValidAt(o.env.Now()) {
		return true, &install.BusyError{Holder: h.Holder, Since: h.Acquired}
	}
	return false, o.outwait(ctx, c, installation, h)
}

// installation finds an installation by its name. It waits for a run whose process is alive, and
// reads then what is there.
func (o *installOptions) installation(ctx context.Context, name string) (*installPlan, error) {
	c, err := o.installCluster(ctx)
	if err != nil {
		return nil, err
	}
	f, err := o.find(ctx, c, name)
	if err != nil {
		return nil, err
	}
	alive := false
	if f.journal.Run != nil {
		if alive, err = o.unlocked(ctx, c, f.of); err != nil {
			return nil, err
		}
		if !alive {
			if f, err = o.find(ctx, c, name); err != nil {
				return nil, err
			}
		}
	}
	o.wire(f.runner, c)
	return &installPlan{o: o, cluster: c, at: f, of: f.of, journal: f.journal, runner: f.runner, died: f.journal.Run != nil && !alive}, nil
}

// outwait waits until the lock is released, or its holder is seen to be dead.
func (o *installOptions) outwait(ctx context.Context, c *installCluster, installation install.Installation, h journal.LeaseStatus) error {
	seen, reported := time.Now(), false
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(liveLook):
		}
		current, held, err := install.ReadHolder(ctx, c.Config, installation)
		switch {
		case err != nil || !held:
			return err
		case current.Version == h.Version && time.Since(seen) >= current.Duration:
			return nil // it died
		case current.Version == h.Version:
			continue
		}
		h, seen = current, time.Now()
		if !reported {
			reported = true
			fmt.Fprintf(o.env.ErrOut, "  waiting %s holds the lock of %s since %s\n", safe(h.Holder), safe(installation.Name), h.Acquired.UTC().Format(time.RFC3339))
		}
	}
}

// liveness says of the open run of a journal whether its process is alive, by its lock.
func (o *installOptions) liveness(ctx context.Context, c *installCluster, installation install.Installation) install.Liveness {
	h, held, err := install.ReadHolder(ctx, c.Config, installation)
	switch {
	case err != nil:
		return install.LivenessUnknown
	case held && h.ValidAt(o.env.Now()):
		return install.Running
	}
	return install.Interrupted
}
