package installer

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// lockInterval is how often the lock of another run is read.
const lockInterval = 500 * time.Millisecond

// waitForLock waits while the process of the open run is alive: such a run needs no recovery. It
// returns at once if the lock is free, else when the holder has not renewed it for its duration.
// alive means that the run is alive, and that waitForLock did not wait because nothing is to be
// written.
func (c *cluster) waitForLock(ctx context.Context, req *Request, target install.Installation) (alive bool, err error) {
	h, held, err := install.ReadHolder(ctx, c.config, target)
	if err != nil || !held {
		return false, nil //nolint:nilerr // taking the lock reports that it may not be read
	}
	valid := h.ValidAt(c.Input.Now())
	switch {
	case !req.writes() && valid:
		c.Say(fmt.Sprintf("a run on %s by %s is running since %s: what follows is based on the current state", target.Name, h.Holder, h.Acquired.UTC().Format(time.RFC3339)))
		return true, nil
	case !req.writes():
		return false, nil
	case req.NoWait && valid:
		return true, &install.BusyError{Holder: h.Holder, Since: h.Acquired}
	}
	return false, c.waitForRelease(ctx, target, h)
}

// waitForRelease waits until the lock is released, or its holder has died.
func (c *cluster) waitForRelease(ctx context.Context, target install.Installation, h journal.LeaseStatus) error {
	seen, announced := time.Now(), false
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockInterval):
		}
		current, held, err := install.ReadHolder(ctx, c.config, target)
		switch {
		case err != nil || !held:
			return err
		case current.Version == h.Version && time.Since(seen) >= current.Duration:
			return nil // it died
		case current.Version == h.Version:
			continue
		}
		h, seen = current, time.Now()
		if !announced {
			announced = true
			c.emit(journal.WaitingForLock(target.Name, h.Holder, h.Acquired))
		}
	}
}

// find finds the installation of a request. It waits for an open run whose process is alive, and
// then reads the installation again.
func (i *Installer) find(ctx context.Context, req Request) (*Plan, error) {
	c, err := i.connect(ctx)
	if err != nil {
		return nil, err
	}
	f, err := c.find(ctx, req.Name)
	if err != nil {
		return nil, err
	}
	alive := false
	if f.journal.Run != nil {
		if alive, err = c.waitForLock(ctx, &req, f.installation); err != nil {
			return nil, err
		}
		if !alive {
			if f, err = c.find(ctx, req.Name); err != nil {
				return nil, err
			}
		}
	}
	return c.newPlan(req, f, f.journal.Run != nil && !alive), nil
}

// liveness says whether the process of the open run of an installation is alive.
func (c *cluster) liveness(ctx context.Context, target install.Installation) install.Liveness {
	h, held, err := install.ReadHolder(ctx, c.config, target)
	switch {
	case err != nil:
		return install.LivenessUnknown
	case held && h.ValidAt(c.Input.Now()):
		return install.Running
	}
	return install.Interrupted
}
