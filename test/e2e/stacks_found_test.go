package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// stacksDocument is the JSON of the stacks command, as far as tests look at it.
type stacksDocument struct {
	Stacks []struct {
		Name, Namespace, GroupedBy string
		Roots                      []string
		Health                     struct {
			Status string
			Causes []struct{ ID string }
		}
		Pods    struct{ Total, Healthy int }
		Created string
		Cluster bool
	}
}

// The stacks of the example, of Prometheus and of cert-manager are found by themselves,
// each once, and fare as they do.
func TestStacksFound(t *testing.T) {
	c := shared.Cluster(t)
	settledExample(t, c)
	ns := c.Namespace(t)
	applied(t, c, ns, "prometheus.yaml")
	applied(t, c, ns, "certificate.yaml")
	want := []string{
		"Certificate.cert-manager.io/NAMESPACE/site Healthy 0/0",
		"CronJob.batch/moodle/wordpress-backup Healthy 0/0",
		"Deployment.apps/moodle/wordpress Healthy 4/4",
		"Deployment.apps/moodle/wordpress-importer Degraded 0/1 Pod/moodle/wordpress-importer-*",
		"Moodle.moodlecontroller.kubeplus/moodle/moodle-1 Healthy 4/4",
		"Moodle.moodlecontroller.kubeplus/moodle/moodle-2 Degraded 2/3 Secret/moodle/moodle-2-smtp",
		"Prometheus.monitoring.coreos.com/NAMESPACE/main Healthy 1/1",
	}
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "NAMESPACE", ns)
	}
	var d stacksDocument
	cluster.Eventually(t, 2*limit, func() error { // the operator may look again after a minute only
		r := sysop(t, c.Kubeconfig, "stacks", "-A", "-o", "json").succeeds(t)
		d = stacksDocument{}
		if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
			t.Fatal(err)
		}
		var got []string
		roots := map[string]string{}
		for _, s := range d.Stacks {
			for _, root := range s.Roots {
				if other, twice := roots[root]; twice {
					return fmt.Errorf("%s is a root of %s and of %s", root, other, s.Name)
				}
				roots[root] = s.Name
			}
			if s.Namespace != ns && s.Namespace != demo {
				continue // of other tests, whose namespaces are being emptied
			}
			line := fmt.Sprintf("%s %s %d/%d", s.Name, s.Health.Status, s.Pods.Healthy, s.Pods.Total)
			for _, cause := range s.Health.Causes {
				line += " " + cause.ID
			}
			got = append(got, line)
			if s.Created == "" || s.Cluster {
				return fmt.Errorf("%+v: created at no time, or of the cluster system", s)
			}
		}
		slices.Sort(got)
		if !slices.EqualFunc(want, got, matches) {
			return fmt.Errorf("stacks:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		return nil
	})

	// What health says of them is the same, and each name is a root.
	said := map[string]string{}
	for _, s := range healthOf(t, c.Kubeconfig, "-A").Stacks {
		said[s.Name] = s.Health
	}
	var names []string
	for _, s := range d.Stacks {
		if s.Namespace != ns && s.Namespace != demo {
			continue
		}
		names = append(names, s.Name)
		if said[s.Name] != s.Health.Status {
			t.Errorf("health says of %s that it is %q, stacks %q", s.Name, said[s.Name], s.Health.Status)
		}
	}
	var roots []string
	for _, s := range healthOf(t, c.Kubeconfig, names...).Stacks {
		roots = append(roots, s.Name)
	}
	slices.Sort(roots)
	if slices.Sort(names); !slices.Equal(roots, names) {
		t.Errorf("asked about\n%s\nhealth tells of\n%s", strings.Join(names, "\n"), strings.Join(roots, "\n"))
	}
}
