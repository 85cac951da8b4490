package cluster

import (
	"context"
	_ "embed" // for the audit policy
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/pki"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// egressProxy is the process through which the API server reaches nodes.
const egressProxy = "egress"

// partsGroup is the group of the cluster's own components, for the audit policy.
const partsGroup = "sysop:parts"

// socketLimit is the length of a Unix socket's path that every system accepts.
const socketLimit = 100

//go:embed manifests/audit-policy.yaml
var auditPolicy []byte

// issue makes the certificates that do not depend on a port.
func (c *Cluster) issue() (err error) {
	if c.ca, err = pki.NewAuthority("ca"); err != nil {
		return err
	}
	if c.frontCA, err = pki.NewAuthority("front-proxy-ca"); err != nil {
		return err
	}
	signing, err := pki.SigningKey()
	if err != nil {
		return err
	}
	pairs := map[string]pki.Pair{"ca": c.ca.Pair, "front-proxy-ca": c.frontCA.Pair, "service-account": signing}
	loopback := []string{"127.0.0.1", "localhost"}
	for file, s := range map[string]pki.Subject{
		"apiserver":           {Name: "kube-apiserver", Hosts: append(loopback, "10.96.0.1", "kubernetes", "kubernetes.default", "kubernetes.default.svc")},
		"kubelet":             {Name: "kwok-kubelet", Groups: []string{"system:nodes"}, Hosts: loopback},
		"kubelet-client":      {Name: "kube-apiserver-kubelet-client", Groups: []string{"system:masters"}},
		"metrics-server":      {Name: "metrics-server", Hosts: append(loopback, "metrics-server.kube-system.svc")},
		"prometheus-operator": {Name: "prometheus-operator", Groups: []string{"system:masters", partsGroup}},
	} {
		if pairs[file], err = c.ca.Issue(s); err != nil {
			return err
		}
	}
	if pairs["front-proxy-client"], err = c.frontCA.Issue(pki.Subject{Name: "front-proxy-client"}); err != nil {
		return err
	}
	for file, p := range pairs {
		if err := p.WriteFiles(c.path("pki", file)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) startEtcd(ctx context.Context) error {
	p, err := ports(2)
	if err != nil {
		return err
	}
	client, peer := "http://"+address(p[0]), "http://"+address(p[1])
	c.Etcd = client
	if err := c.run(build.Etcd, build.Etcd,
		"--name=sysop", "--data-dir="+c.path("etcd"),
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=sysop="+peer,
		"--unsafe-no-fsync=true", "--quota-backend-bytes=8589934592", "--snapshot-count=10000", "--log-level=warn",
	); err != nil {
		return err
	}
	return await(ctx, answers(http.DefaultClient, client+"/health"))
}

// startEgress starts the proxy that lets nodes have ordinary addresses. A path
// of a socket is short: in a deep directory the socket goes elsewhere.
func (c *Cluster) startEgress(ctx context.Context) error {
	socket := c.path("egress.sock")
	if len(socket) > socketLimit {
		dir, err := os.MkdirTemp("", "sysop-egress-")
		if err != nil {
			return err
		}
		c.extraDir = dir
		socket = dir + "/s"
	}
	config := fmt.Sprintf(`{"apiVersion":"apiserver.k8s.io/v1beta1","kind":"EgressSelectorConfiguration","egressSelections":[
{"name":"cluster","connection":{"proxyProtocol":"HTTPConnect","transport":{"uds":{"udsName":%q}}}}]}`, socket)
	if err := os.WriteFile(c.path("egress.json"), []byte(config), 0o600); err != nil {
		return err
	}
	if err := c.run(egressProxy, build.FakeKubelet, "--egress-socket="+socket, "--routes="+c.path(routesDir)); err != nil {
		return err
	}
	return await(ctx, func(context.Context) error {
		_, err := os.Stat(socket)
		return err
	})
}

func (c *Cluster) startAPIServer(ctx context.Context) error {
	p, err := ports(1)
	if err != nil {
		return err
	}
	c.server = "https://" + address(p[0])
	c.Kubeconfig = c.path("kubeconfig")
	if err := c.kubeconfig(c.Kubeconfig, pki.Subject{Name: "admin", Groups: []string{"system:masters"}}); err != nil {
		return err
	}
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return err
	}
	c.config.QPS = -1
	if c.client, err = dynamic.NewForConfig(c.config); err != nil {
		return err
	}
	args := append(c.apiServerFlags(p[0]), c.options.APIServerFlags...)
	if c.options.Audit {
		if err := os.WriteFile(c.path("audit-policy.yaml"), auditPolicy, 0o600); err != nil {
			return err
		}
		// The log is not rotated: AuditEvents reads one file.
		args = append(args, "--audit-policy-file=audit-policy.yaml", "--audit-log-path="+c.log(auditLog), "--audit-log-maxsize=1000000")
	}
	if err := c.run(build.APIServer, build.APIServer, args...); err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return err
	}
	return await(ctx, answers(client, c.server+"/readyz"))
}

func (c *Cluster) apiServerFlags(port int) []string {
	return []string{
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), "--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", "--etcd-servers=" + c.Etcd, "--service-cluster-ip-range=10.96.0.0/16",
		"--tls-cert-file=pki/apiserver.crt", "--tls-private-key-file=pki/apiserver.key", "--client-ca-file=pki/ca.crt",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=pki/service-account.crt", "--service-account-signing-key-file=pki/service-account.key",
		"--authorization-mode=Node,RBAC", "--allow-privileged=true",
		"--requestheader-client-ca-file=pki/front-proxy-ca.crt", "--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=pki/front-proxy-client.crt", "--proxy-client-key-file=pki/front-proxy-client.key",
		"--kubelet-client-certificate=pki/kubelet-client.crt", "--kubelet-client-key=pki/kubelet-client.key",
		"--kubelet-preferred-address-types=InternalIP", "--egress-selector-config-file=egress.json",
		"--max-requests-inflight=4000", "--max-mutating-requests-inflight=2000", "--profiling=false",
	}
}

func (c *Cluster) startControllerManager(context.Context) error {
	p, err := ports(1)
	if err != nil {
		return err
	}
	const kubeconfig = "controller-manager.kubeconfig"
	if err := c.kubeconfig(c.path(kubeconfig), pki.Subject{Name: "system:kube-controller-manager"}); err != nil {
		return err
	}
	return c.run(build.ControllerManager, build.ControllerManager,
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p[0]), "--cert-dir="+c.path("pki", "controller-manager"),
		"--leader-elect=false", "--root-ca-file=pki/ca.crt", "--service-account-private-key-file=pki/service-account.key",
		"--cluster-signing-cert-file=pki/ca.crt", "--cluster-signing-key-file=pki/ca.key",
		"--use-service-account-credentials=true", "--allocate-node-cidrs=false", "--profiling=false",
		"--kube-api-qps=1000", "--kube-api-burst=2000", "--node-monitor-grace-period=3600s",
		// Claims and volumes bind in several steps; kwok writes to them as well, and a step with a
		// conflict is only repeated in the next round (15 s).
		"--pvclaimbinder-sync-period=1s",
		// Scalers are looked at as often as new samples come.
		"--horizontal-pod-autoscaler-sync-period=5s")
}

func (c *Cluster) startScheduler(context.Context) error {
	p, err := ports(1)
	if err != nil {
		return err
	}
	const kubeconfig = "scheduler.kubeconfig"
	if err := c.kubeconfig(c.path(kubeconfig), pki.Subject{Name: "system:kube-scheduler"}); err != nil {
		return err
	}
	config := fmt.Sprintf(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",
"leaderElection":{"leaderElect":false},"clientConnection":{"kubeconfig":%q,"qps":1000,"burst":2000}}`, c.path(kubeconfig))
	if err := os.WriteFile(c.path("scheduler.json"), []byte(config), 0o600); err != nil {
		return err
	}
	return c.run(build.Scheduler, build.Scheduler, "--config=scheduler.json",
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p[0]), "--cert-dir="+c.path("pki", "scheduler"),
		"--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig)
}

// awaitServiceAccount waits for what pods in the default namespace need.
func (c *Cluster) awaitServiceAccount(ctx context.Context) error {
	accounts := c.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"})
	return await(ctx, func(ctx context.Context) error {
		_, err := accounts.Namespace(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// await retries until there is no error or ctx ends; then it returns the last error, too.
func await(ctx context.Context, try func(context.Context) error) error {
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		one, cancel := context.WithTimeout(ctx, timeout.Scaled(5*time.Second))
		err := try(one)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-poll.C:
		}
	}
}

// answers asks a URL for 200 OK.
func answers(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("get %s: %s", url, resp.Status)
		}
		return nil
	}
}
