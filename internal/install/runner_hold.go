package install

import (
	"context"
	"fmt"
)

// hold holds the dependants of a part before its release changes.
func (x *run) hold(ctx context.Context, s *Step) error {
	if x.Hold == nil || x.letGo != nil || s.Kind != UpgradeRelease && s.Kind != RollbackRelease {
		return nil
	}
	p := x.part(s.Part)
	if p == nil {
		return nil
	}
	letGo, err := x.Hold(ctx, p)
	x.letGo = letGo // also if some could not be held
	if err != nil {
		return fmt.Errorf("hold the apps that need %s: %w", p.Name, err)
	}
	return nil
}

// goesOnWith reports whether the next step is of the same part.
func (x *run) goesOnWith(i int) bool {
	return i+1 < len(x.p.Steps) && x.p.Steps[i+1].Part == x.p.Steps[i].Part
}

// free releases the held dependants.
func (x *run) free(ctx context.Context) error {
	letGo := x.letGo
	if letGo == nil {
		return nil
	}
	x.letGo = nil
	if err := letGo(ctx); err != nil {
		return fmt.Errorf("recover the held apps: %w", err)
	}
	return nil
}
