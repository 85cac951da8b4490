package level_test

import (
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/level"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/all"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestUnreadRoots: what is said of the objects that were read does not hold for those that were not.
func TestUnreadRoots(t *testing.T) {
	rules := level.Rules(all.Rules())
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	read := &check.Subject{Ref: web}
	for i := range rules {
		r := &check.Result{Rule: &rules[i]}
		r.Pass(web)
		read.Results = append(read.Results, r)
	}
	for name, c := range map[string]struct {
		app      check.SystemApp
		subjects []*check.Subject
		reached  int
		// unknown are the rules of which nothing is known.
		unknown map[string]bool
	}{
		"all is read": {check.SystemApp{Name: "web", Roots: []object.Ref{web}}, []*check.Subject{read}, 3, nil},
		"no root is read": {
			check.SystemApp{Name: "web", Unread: []string{"deployment/web"}},
			nil, 0,
			map[string]bool{"stack-built": true, "stack-metrics": true, "stack-alerts": true, "stack-backup": true, "stack-backup-age": true, "stack-scaled": true},
		},
		"a root is not read": {
			check.SystemApp{Name: "web", Roots: []object.Ref{web}, Unread: []string{"secret/key"}},
			[]*check.Subject{read},
			0,
			map[string]bool{"stack-built": true, "stack-metrics": true, "stack-alerts": true, "stack-backup": true, "stack-backup-age": true, "stack-scaled": true},
		},
		"an app without monitoring and scaling": {
			check.SystemApp{Name: "web", Unread: []string{"deployment/web"}, NotMonitored: true, NotScaled: true},
			nil, 0,
			map[string]bool{"stack-built": true, "stack-backup": true, "stack-backup-age": true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			report := check.NewReport(c.subjects, rules, nil, nil, time.Time{})
			report.Rules = rules
			got, ok := level.Of(&check.System{Name: "shop", Namespace: "shop", Apps: []check.SystemApp{c.app}}, report, level.Source{Query: "shop", Namespace: "shop"})
			if !ok || got.Level != c.reached {
				t.Fatalf("level %+v, %t", got, ok)
			}
			for _, l := range got.Levels {
				for _, r := range l.Rules {
					want := level.Reached
					if c.unknown[r.Rule] {
						want = level.Unknown
					}
					if r.Status != want || want == level.Unknown && (len(r.Unknowns) != 1 || r.Unknowns[0].Message != "it could not be read") {
						t.Errorf("%s: %s %+v, want %s", r.Rule, r.Status, r.Unknowns, want)
					}
				}
			}
		})
	}
}
