package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// Whatever fails of the second operator, and wherever: all that was done is undone, and the
// cluster is byte-equal to what it was.
func TestInstallFailing(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	refusing := func(method, path string) func(*tea) {
		return func(s *tea) {
			s.proxy.Inject(faults.Fault{Effect: faults.Forbidden(), Match: func(q *http.Request) bool {
				return faults.Writes(q) && q.Method == method && strings.HasSuffix(q.URL.Path, strings.ReplaceAll(path, "UNIT", s.unit))
			}})
		}
	}
	soon := brief(6 * time.Second) // the first operator is healthy by then
	var work errgroup.Group
	for _, stage := range []struct {
		name    string
		prepare func(*tea)
		flags   []string
		words   []string
	}{
		{"definitions", refusing(http.MethodPatch, "/customresourcedefinitions/teapots.UNIT.example.com"), nil, []string{"definitions/teapot", "injected fault"}},
		{"release", refusing(http.MethodPatch, "/namespaces/teapot-UNIT/deployments/teapot-UNIT"), nil, []string{"teapot", "injected fault"}},
		{"record", refusing(http.MethodPost, "/namespaces/teapot-UNIT/secrets"), nil, []string{"teapot", "injected fault"}},
		{"hook", func(s *tea) { s.values("teapot", "failHook: ImagePullBackOff") }, nil, []string{"teapot", "check"}},
		{"gate", func(s *tea) { s.values("teapot", "fail: CrashLoopBackOff") }, []string{"--timeout", soon}, []string{"await/teapot", "not Healthy after " + soon}},
		{"connection", func(s *tea) { s.connect("status.loadBalancer.ingress[0].ip") }, []string{"--timeout", soon}, []string{"no value after " + soon}},
		{"app", refusing(http.MethodPatch, "/teapots/tea"), nil, []string{"tea", "injected fault"}},
	} {
		work.Go(func() error {
			t.Run(stage.name, func(t *testing.T) {
				s := newTea(t, c, "fail-"+stage.name, "")
				s.remember()
				stage.prepare(s)
				r := s.run(s.args("install", stage.flags...)...)
				s.failed(r, append(stage.words, "all changes were undone")...)
				s.nothing()
			})
			return nil
		})
	}
	_ = work.Wait() // each says itself how it ended
}

// values gives an entry of the catalogue values.
func (s *tea) values(name, values string) {
	s.t.Helper()
	was := "version: 1.0.0}"
	s.edit(name, was, "version: 1.0.0, values: {"+values+"}}")
}
