package cluster

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/pki"
)

// standIns are operators whose pods kwok simulates, while their programs run here.
type standIns struct {
	mu      sync.Mutex
	running map[string]bool // by the name of the process
	end     context.CancelFunc
	done    chan struct{}
}

func newStandIns() *standIns { return &standIns{running: map[string]bool{}} }

// standInPrograms are the values of app.kubernetes.io/name of Deployments, which are also the
// programs that run for them.
var standInPrograms = []string{build.CertManager, build.PrometheusOperator}

// standInPoll is the interval at which Deployments are checked.
const standInPoll = 200 * time.Millisecond

// startStandIns watches the Deployments until the cluster stops.
func (c *Cluster) startStandIns(context.Context) error {
	ctx, cancel := context.WithCancel(context.Background())
	c.standIns.end, c.standIns.done = cancel, make(chan struct{})
	go func() {
		defer close(c.standIns.done)
		tick := time.NewTicker(standInPoll)
		defer tick.Stop()
		for {
			for _, program := range standInPrograms {
				if err := c.standIn(ctx, program); err != nil && ctx.Err() == nil {
					fmt.Fprintf(c.options.Log, "stand in for %s: %v\n", program, err)
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return nil
}

// standIn starts the program of an available Deployment, and stops that of a deleted one. It
// restarts a program that has ended by itself, as its pod would be.
func (c *Cluster) standIn(ctx context.Context, program string) error {
	list, err := c.client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + program})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list.Items, func(d unstructured.Unstructured) bool { return apply.Condition(&d, "Available") })
	switch running := c.standIns.runs(program); {
	case len(list.Items) == 0 && running:
		return c.killStandIn(program)
	case i < 0 || running:
		return nil
	}
	d := &list.Items[i]
	account, _, err := unstructured.NestedString(d.Object, "spec", "template", "spec", "serviceAccountName")
	if err != nil {
		return err
	}
	user := pki.Subject{
		Name:   "system:serviceaccount:" + d.GetNamespace() + ":" + account,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + d.GetNamespace(), "system:authenticated"},
	}
	c.standIns.set(program, true)
	if err := c.runStandIn(program, d.GetNamespace(), user); err != nil {
		c.standIns.set(program, false)
		return err
	}
	return nil
}

// runStandIn starts a program with the permissions of its service account.
func (c *Cluster) runStandIn(program, namespace string, user pki.Subject) error {
	if program == build.CertManager {
		if err := c.kubeconfig(c.path(program+".kubeconfig"), user); err != nil {
			return err
		}
		return c.run(program, program, "--kubeconfig="+program+".kubeconfig", "--cluster-resource-namespace="+namespace)
	}
	pair, err := c.ca.Issue(user)
	if err != nil {
		return err
	}
	if err := pair.WriteFiles(c.path("pki", program+"-account")); err != nil {
		return err
	}
	p, err := ports(1)
	if err != nil {
		return err
	}
	return c.run(program, program,
		"--apiserver="+c.server, "--cert-file=pki/"+program+"-account.crt", "--key-file=pki/"+program+"-account.key",
		"--ca-file=pki/ca.crt", "--web.listen-address="+address(p[0]), "--kubelet-endpoints=false")
}

// killStandIn kills a program: its watch reports the end.
func (c *Cluster) killStandIn(program string) error {
	all := c.supervisor.Processes()
	for _, p := range slices.Backward(all) {
		if p.Name != program {
			continue
		}
		process, err := os.FindProcess(p.PID)
		if err != nil {
			return err
		}
		return process.Kill()
	}
	return nil
}

func (s *standIns) runs(program string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[program]
}

func (s *standIns) set(program string, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[program] = running
}

// ended records that a process has ended, and reports whether it was one of these.
func (s *standIns) ended(program string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.running[program]
	s.running[program] = false
	return was
}

// stop stops the watching.
func (s *standIns) stop() {
	if s.end == nil {
		return
	}
	s.end()
	<-s.done
}
