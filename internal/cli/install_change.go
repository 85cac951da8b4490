package cli

import (
	"context"
)

// changer is a command that changes an installation.
type changer interface {
	// propose makes the plan over what is there now. Nothing is written.
	propose(ctx context.Context) (*installPlan, error)
	// agree shows the plan and asks; open is the run that it continues, nil for none.
	agree(ctx context.Context, p *installPlan, open *recovering) (bool, error)
	// apply does the plan.
	apply(ctx context.Context, p *installPlan) error
}

// change is the course of every command that changes an installation. A run whose process died is
// ended first; what stands against the plan after it is said before that writes anything.
func (o *installOptions) change(ctx context.Context, c changer) error {
	p, err := c.propose(ctx)
	if err != nil {
		return err
	}
	var open *recovering
	if p.died {
		if open, err = p.recovering(ctx, p.planned.Fingerprint); err != nil {
			return err
		}
	}
	if o.printRBAC {
		return p.role(open)
	}
	if open != nil && o.dryRun == "none" {
		decide := func() (bool, error) { return c.agree(ctx, p, open) }
		if goOn, err := open.agree(ctx, p, decide); err != nil || !goOn {
			return err
		}
		if _, _, err := open.end(ctx); err != nil {
			return err
		}
		if p, err = c.propose(ctx); err != nil { // over what is there now
			return err
		}
	}
	if !open.covers(p.planned) {
		if err := p.review(ctx); err != nil {
			return err
		}
		if err := p.preflight(ctx); err != nil {
			return err
		}
		if goOn, err := c.agree(ctx, p, open); err != nil || !goOn {
			return err
		}
	}
	return c.apply(ctx, p)
}

// review adds a refusal for every permission that the plan needs and the user does not have.
func (p *installPlan) review(ctx context.Context) error {
	if len(p.planned.Steps) == 0 || p.o.dryRun == "client" {
		return nil
	}
	return p.permissions(ctx)
}

// preflight adds a refusal for what the plan installs and what would not start.
func (p *installPlan) preflight(ctx context.Context) error {
	if len(p.planned.Steps) == 0 || p.o.dryRun == "client" || p.made == nil {
		return nil
	}
	return p.runPreflight(ctx)
}
