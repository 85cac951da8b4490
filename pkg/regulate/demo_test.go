package regulate_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/examples"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Of the example that everybody tries: who needs the database, by which objects, and that
// each app can do what its manifest says.
func TestDemo(t *testing.T) {
	sys, problems := system.Parse("demo", examples.DemoSystem())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	snap, err := source.Open("demo", nil, examples.Demo())
	if err != nil {
		t.Fatal(err)
	}
	w := regulate.Observe(lookAt(t, sys, snap).in)
	var got []string
	for _, n := range regulate.Neighbours(w, "db", false) {
		need := n.Way[0]
		got = append(got, n.App+" by "+need.From.String()+" "+need.Edge.Why()+need.Reason)
	}
	want := `moodle-1 by Moodle.moodlecontroller.kubeplus/moodle/moodle-1 spec.mySQLServiceName = "cluster1-mysql-master"
moodle-2 by Moodle.moodlecontroller.kubeplus/moodle/moodle-2 spec.mySQLServiceName = "cluster1-mysql-master"
wordpress by Deployment.apps/moodle/wordpress spec.template.spec.containers[0].env[0].value = "cluster1-mysql-master:3306"
importer by / it reads the tables of WordPress`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	for i := range w.Apps {
		a := &w.Apps[i]
		if len(a.Roots) == 0 || len(a.Absent)+len(a.Unread) > 0 || a.Health == "" || len(a.Fingerprint) == 0 {
			t.Errorf("%s: %+v", a.Name, a)
		}
		for signal, actions := range a.Actions {
			for _, r := range actions {
				if r.Refused != "" && !r.Default || r.Refused == "" && len(r.Targets) == 0 {
					t.Errorf("%s on %s: %+v", a.Name, signal, r)
				}
			}
		}
	}
}
