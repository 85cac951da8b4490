package cluster

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
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
	gone    chan struct{}   // has something in it when one has ended
	end     context.CancelFunc
	done    chan struct{}
}

func newStandIns() *standIns {
	return &standIns{running: map[string]bool{}, gone: make(chan struct{}, 1)}
}

// standInPrograms are the values of app.kubernetes.io/name of Deployments, which are also the
// programs that run for them.
var standInPrograms = []string{build.CertManager, build.PrometheusOperator}

// standInRetry is how long after its end a program, or the watch, is started again.
const standInRetry = 200 * time.Millisecond

// startStandIns watches the Deployments until the cluster stops.
func (c *Cluster) startStandIns(context.Context) error {
	ctx, cancel := context.WithCancel(context.Background())
	c.standIns.end, c.standIns.done = cancel, make(chan struct{})
	go func() {
		defer close(c.standIns.done)
		for ctx.Err() == nil {
			if err := c.watchStandIns(ctx); err != nil && ctx.Err() == nil {
				fmt.Fprintf(c.options.Log, "watch the Deployments of operators: %v\n", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(standInRetry):
			}
		}
	}()
	return nil
}

// watchStandIns looks at the Deployments now and when one of them changes. It ends with the watch, and
// when a program has ended.
func (c *Cluster) watchStandIns(ctx context.Context) error {
	deployments := c.client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
	ofPrograms := metav1.ListOptions{LabelSelector: "app.kubernetes.io/name in (" + strings.Join(standInPrograms, ",") + ")"}
	changes, err := deployments.Watch(ctx, ofPrograms)
	if err != nil {
		return err
	}
	defer changes.Stop()
	for {
		list, err := deployments.List(ctx, ofPrograms)
		if err != nil {
			return err
		}
		for _, program := range standInPrograms {
			others := func(d unstructured.Unstructured) bool { return d.GetLabels()["app.kubernetes.io/name"] != program }
			if err := c.standIn(program, slices.DeleteFunc(slices.Clone(list.Items), others)); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-c.standIns.gone:
			return nil
		case _, open := <-changes.ResultChan():
			if !open {
				return nil
			}
		}
	}
}

// standIn starts the program of an available Deployment, and stops that of a deleted one. It
// restarts a program that has ended by itself, as its pod would be.
func (c *Cluster) standIn(program string, deployments []unstructured.Unstructured) error {
	i := slices.IndexFunc(deployments, func(d unstructured.Unstructured) bool { return apply.Condition(&d, "Available") })
	switch running := c.standIns.runs(program); {
	case len(deployments) == 0 && running:
		return c.killStandIn(program)
	case i < 0 || running:
		return nil
	}
	d := &deployments[i]
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
	if was {
		select {
		case s.gone <- struct{}{}:
		default:
		}
	}
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
