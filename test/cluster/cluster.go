// Package cluster runs a real Kubernetes control plane for tests, and for
// playing, as plain processes on loopback: etcd, API server, controller
// manager, scheduler, kwok (nodes, the life of pods, volumes), metrics-server,
// and two real operators. No container, no root, no network.
//
// A test package starts one for all its tests:
//
//	func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }
//
//	var shared = cluster.NewShared(cluster.Workloads())
//
//	func TestPods(t *testing.T) {
//		c := shared.Cluster(t)
//		ns := c.Namespace(t)
//		...
//	}
//
// A pod with the annotation sysop.dev/fail, with the value CrashLoopBackOff,
// ImagePullBackOff or CreateContainerConfigError, fails in that way. What a pod
// uses is said by the annotations kwok.x-k8s.io/usage-cpu and usage-memory (of
// each container), and for /stats/summary net-rx, net-tx, volume-used-NAME,
// volume-capacity-NAME and ephemeral-used. A pod on its host's network sees the traffic
// of the whole node.
package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/pki"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/supervise"
)

// tailLines is how much of a log an error shows.
const tailLines = 15

// logsDir is the directory of the logs in that of the cluster.
const logsDir = "logs"

// routesDir is that of the routes of the egress proxy.
const routesDir = "routes"

// Cluster is a running control plane. Its methods can be called from several
// goroutines.
type Cluster struct {
	Kubeconfig string // file of the administrator (group system:masters)
	Etcd       string // URL of etcd, which asks for no credentials: for the loader

	options    Options
	binaries   build.Binaries
	dir        string
	temporary  bool
	extraDir   string // of the egress socket, if dir is too deep for it
	supervisor *supervise.Supervisor
	exited     chan struct{} // closed when a process has ended
	exit       error         // which one, and how; set before exited is closed
	stop       sync.Once
	stopErr    error
	// dying is closed when the API server has ended before a restart.
	dying atomic.Pointer[chan struct{}]
	// standIns are operators that run while they are installed.
	standIns *standIns
	// keepLogs says that a test on this cluster has failed.
	keepLogs atomic.Bool

	ca, frontCA *pki.Authority
	server      string // URL
	kubeletPort int
	config      *rest.Config
	client      dynamic.Interface
}

// Stop ends every process, and returns when they are gone. A cluster can be
// stopped more than once.
func (c *Cluster) Stop() error {
	c.stop.Do(func() {
		c.standIns.stop()
		c.stopErr = errors.Join(c.supervisor.Stop(), c.removeDir())
	})
	return c.stopErr
}

// Exited is closed when a process of the cluster has ended, by Stop or before.
func (c *Cluster) Exited() <-chan struct{} { return c.exited }

// Err returns which process ended first, once Exited is closed.
func (c *Cluster) Err() error {
	select {
	case <-c.exited:
		return c.exit
	default:
		return nil
	}
}

// Dir returns the directory of the cluster; the logs are in logs/NAME.log.
func (c *Cluster) Dir() string { return c.dir }

// Binaries returns the directory of the programs, including the loader.
func (c *Cluster) Binaries() build.Binaries { return c.binaries }

// Processes lists the running processes, except the supervisor.
func (c *Cluster) Processes() []supervise.Process { return c.supervisor.Processes() }

// Config is the administrator's connection, without a client-side rate limit.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// User creates a client certificate for a user with the permissions of its groups only, and returns
// the kubeconfig file. Grant permissions by RBAC objects.
func (c *Cluster) User(name string, groups ...string) (string, error) {
	file := c.path("users", url.PathEscape(name)+".kubeconfig")
	if err := c.kubeconfig(file, pki.Subject{Name: name, Groups: groups}); err != nil {
		return "", err
	}
	return file, nil
}

// Apply creates the objects of another cluster, or of a file, in this one; see package apply. It
// skips objects that the running controllers create.
func (c *Cluster) Apply(ctx context.Context, objects []*unstructured.Unstructured) (apply.Result, error) {
	o := c.options
	return apply.Objects(ctx, c.config, apply.Makers{
		Controllers: o.ControllerManager, Pods: o.Kwok, Scheduler: o.Scheduler, Certificates: o.CertManager,
	}, objects)
}

// Proxy starts a proxy in front of the API server, with faults to inject; it
// acts as the user of the kubeconfig file, the administrator's if that is
// empty. The caller closes it.
func (c *Cluster) Proxy(kubeconfig string) (*faults.Proxy, error) {
	cfg := c.config
	if kubeconfig != "" {
		var err error
		if cfg, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
			return nil, fmt.Errorf("start a proxy: %w", err)
		}
	}
	return faults.NewProxy(cfg)
}

func (c *Cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.dir}, elements...)...)
}

// kubeconfig issues a client certificate and writes a kubeconfig with it.
func (c *Cluster) kubeconfig(file string, s pki.Subject) error {
	pair, err := c.ca.Issue(s)
	if err != nil {
		return err
	}
	return pki.Kubeconfig{Name: "sysop", Server: c.server, CA: c.ca.Cert, User: s.Name, Client: pair}.WriteFile(file)
}

// run starts a program of the build, in the cluster's directory.
func (c *Cluster) run(name, program string, args ...string) error {
	_, err := c.supervisor.Start(supervise.Command{
		Name: name, Path: c.binaries.Path(program), Args: args, Dir: c.dir, Log: c.log(name),
		Env: []string{"HOME=" + c.dir, "PATH=/usr/bin:/bin", "TMPDIR=" + os.TempDir()},
	})
	return err
}

func (c *Cluster) log(name string) string { return c.path(logsDir, name+".log") }

// tail returns the end of a process's log, or "".
func (c *Cluster) tail(name string) string {
	b, err := os.ReadFile(c.log(name))
	if err != nil {
		return ""
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-tailLines):], []byte("\n")))
}
