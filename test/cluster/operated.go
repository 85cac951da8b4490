package cluster

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
)

// operatedPoll is how often the configuration of an operated server is read again.
const operatedPoll = 2 * time.Second

// operated is a Prometheus server that runs in place of the simulated pods of a Prometheus object: with
// the configuration and rules that prometheus-operator made, and at the addresses of the pods.
type operated struct {
	c               *Cluster
	namespace, name string
	dir             string
	log             io.Writer
	// ready is called once, when the server answers; nil for nothing.
	ready  func(*Prometheus)
	client kubernetes.Interface
	server *Prometheus
	// proxy is the address of what answers scrapes of simulated pods.
	proxy  string
	config []byte
}

// OperatePrometheus runs a server in place of the pods of a Prometheus object, and returns it when it is
// ready. It ends with the test.
func (c *Cluster) OperatePrometheus(t testing.TB, namespace, name string) *Prometheus {
	t.Helper()
	bin, err := BuildPrometheus(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, ended := make(chan *Prometheus, 1), make(chan error, 1)
	go func() {
		o := operated{c: c, namespace: namespace, name: name, dir: dir, log: c.options.Log, ready: func(p *Prometheus) { ready <- p }}
		ended <- o.run(ctx, bin)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	select {
	case p := <-ready:
		return p
	case err := <-ended:
		ended <- err
		t.Fatalf("operate Prometheus: %v", err)
	case <-time.After(prometheusStart):
		t.Fatal("operate Prometheus: prometheus-operator makes no configuration")
	}
	return nil
}

// OperateAll runs a server in place of the pods of each Prometheus object of the cluster, as they come and
// go, until ctx ends; dir gets a directory for each, and log what fails.
func (c *Cluster) OperateAll(ctx context.Context, bin build.Binaries, dir string, log io.Writer) {
	running := map[string]context.CancelFunc{}
	var all sync.WaitGroup
	defer all.Wait()
	for ctx.Err() == nil {
		list, err := c.client.Resource(prometheusResource).List(ctx, metav1.ListOptions{})
		if err != nil {
			list = &unstructured.UnstructuredList{}
		}
		seen := map[string]bool{}
		for _, p := range list.Items {
			at := p.GetNamespace() + "." + p.GetName()
			if seen[at] = true; running[at] != nil {
				continue
			}
			one, cancel := context.WithCancel(ctx)
			running[at] = cancel
			all.Go(func() {
				o := operated{c: c, namespace: p.GetNamespace(), name: p.GetName(), dir: filepath.Join(dir, at), log: log}
				if err := o.run(one, bin); err != nil && one.Err() == nil {
					fmt.Fprintf(log, "Prometheus %s: %v\n", at, err)
				}
			})
		}
		for at, cancel := range running {
			if err == nil && !seen[at] {
				cancel()
				delete(running, at)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(operatedPoll):
		}
	}
	for _, cancel := range running {
		cancel()
	}
}

var prometheusResource = schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheuses"}

// run runs the server until ctx ends.
func (o *operated) run(ctx context.Context, bin build.Binaries) error {
	var err error
	if o.client, err = kubernetes.NewForConfig(o.c.config); err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address(0))
	if err != nil {
		return err
	}
	o.proxy = listener.Addr().String()
	proxy := &http.Server{Handler: http.HandlerFunc(o.answer), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = proxy.Serve(listener) }()
	defer func() { _ = proxy.Close() }()
	if err := await(ctx, o.read); err != nil {
		return err
	}
	if o.server, err = RunPrometheus(ctx, bin, o.dir, PrometheusOptions{Config: string(o.config), Flags: []string{"--web.enable-lifecycle"}}); err != nil {
		return err
	}
	o.follow(ctx)
	return o.server.Stop()
}

// follow keeps configuration and routes as the cluster has them, as the reloader of a real pod does. What
// cannot be read is read again.
func (o *operated) follow(ctx context.Context) {
	for {
		before := o.config
		err := o.read(ctx)
		if err == nil && !bytes.Equal(before, o.config) {
			err = o.reload(ctx)
		}
		if err == nil {
			err = o.route(ctx)
		}
		if err == nil && o.ready != nil {
			o.ready(o.server)
			o.ready = nil
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(o.log, "Prometheus %s/%s: %v\n", o.namespace, o.name, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(operatedPoll):
		}
	}
}

// read reads what the operator made, and writes the rules.
func (o *operated) read(ctx context.Context) error {
	secret, err := o.client.CoreV1().Secrets(o.namespace).Get(ctx, "prometheus-"+o.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	text, err := unzip(secret.Data["prometheus.yaml.gz"])
	if err != nil {
		return err
	}
	var config map[string]any
	if err := yaml.Unmarshal([]byte(strings.NewReplacer("$(SHARD)", "0", "$(POD_NAME)", "prometheus-"+o.name+"-0").Replace(text)), &config); err != nil {
		return err
	}
	versions, err := o.rules(ctx, config)
	if err != nil {
		return err
	}
	delete(config, "alerting") // names an Alertmanager by its address
	jobs, _ := config["scrape_configs"].([]any)
	for _, item := range jobs {
		job, _ := item.(map[string]any)
		job["proxy_url"] = "http://" + o.proxy
		discoveries, _ := job["kubernetes_sd_configs"].([]any)
		for _, d := range discoveries {
			d.(map[string]any)["kubeconfig_file"] = o.c.Kubeconfig
		}
	}
	out, err := yaml.Marshal(config)
	if err != nil {
		return err
	}
	// A change of a rule alone changes what is reloaded, too.
	o.config = fmt.Appendf(out, "# rules %s\n", versions)
	return nil
}

// rules writes the rules beside the configuration, and returns the versions of what has them.
func (o *operated) rules(ctx context.Context, config map[string]any) ([]string, error) {
	paths, _ := config["rule_files"].([]any)
	var versions []string
	for i, item := range paths {
		path, _ := item.(string)
		name := filepath.Base(filepath.Dir(path))
		found, err := o.client.CoreV1().ConfigMaps(o.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(o.dir, name)
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
			return nil, err
		}
		for file, text := range found.Data {
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(text), 0o600); err != nil {
				return nil, err
			}
		}
		versions = append(versions, found.ResourceVersion)
		paths[i] = filepath.Join(dir, "*.yaml")
	}
	return versions, nil
}

// reload has the server read its configuration.
func (o *operated) reload(ctx context.Context) error {
	if err := os.WriteFile(filepath.Join(o.dir, "prometheus.yaml"), o.config, 0o600); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.server.URL+"/-/reload", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		return fmt.Errorf("reload: %s: %s", resp.Status, text)
	}
	return nil
}

// route lets the addresses of the pods lead to the server.
func (o *operated) route(ctx context.Context) error {
	pods, err := o.client.CoreV1().Pods(o.namespace).List(ctx, metav1.ListOptions{LabelSelector: "operator.prometheus.io/name=" + o.name})
	if err != nil {
		return err
	}
	if len(pods.Items) == 0 || pods.Items[0].Status.PodIP == "" {
		return errors.New("it has no pod yet")
	}
	for i := range pods.Items {
		at := net.JoinHostPort(pods.Items[i].Status.PodIP, strconv.Itoa(PrometheusPort))
		if err := os.WriteFile(filepath.Join(o.c.path(routesDir), at), []byte(strconv.Itoa(o.server.port)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// answer answers the scrape of a simulated pod: its own pods by the server, others by a metric, where a
// container declares the port.
func (o *operated) answer(w http.ResponseWriter, r *http.Request) {
	if route, err := os.ReadFile(filepath.Join(o.c.path(routesDir), filepath.Base(r.Host))); err == nil {
		o.forward(w, r, string(route))
		return
	}
	pods, err := o.client.CoreV1().Pods("").List(r.Context(), metav1.ListOptions{FieldSelector: "status.podIP=" + r.URL.Hostname()})
	if err != nil || !declares(pods.Items, r.URL.Port()) {
		http.Error(w, "no running pod listens there", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	fmt.Fprint(w, "# HELP played_info 1: the pod is simulated.\n# TYPE played_info gauge\nplayed_info 1\n")
}

func (o *operated) forward(w http.ResponseWriter, r *http.Request, port string) {
	at := url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", port), Path: r.URL.Path}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, at.String(), nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

// declares says whether a container of running pods declares a port.
func declares(pods []corev1.Pod, port string) bool {
	for i := range pods {
		if pods[i].Status.Phase != corev1.PodRunning {
			continue
		}
		for _, c := range pods[i].Spec.Containers {
			for _, p := range c.Ports {
				if strconv.Itoa(int(p.ContainerPort)) == port {
					return true
				}
			}
		}
	}
	return false
}

func unzip(data []byte) (string, error) {
	if len(data) == 0 {
		return "", errors.New("prometheus-operator has made no configuration yet")
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}
