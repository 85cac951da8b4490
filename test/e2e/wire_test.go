package e2e

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// wire passes bytes on between the plugin and the API server, below TLS: it can break, and it can
// fall silent, as one through a firewall that forgot the connection.
type wire struct {
	kubeconfig string
	target     string
	listener   net.Listener
	mu         sync.Mutex
	changed    *sync.Cond
	silenced   bool
	ends       map[net.Conn]bool
	work       sync.WaitGroup
}

// newWire is a wire for the user of the kubeconfig. It ends with the test.
func newWire(t *testing.T, kubeconfig string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener, ends: map[net.Conn]bool{}, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	w.changed = sync.NewCond(&w.mu)
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range config.Clusters {
		server, err := url.Parse(one.Server)
		if err != nil {
			t.Fatal(err)
		}
		w.target = server.Host
		one.Server = "https://" + listener.Addr().String()
		one.TLSServerName = server.Hostname()
	}
	if err := clientcmd.WriteToFile(*config, w.kubeconfig); err != nil {
		t.Fatal(err)
	}
	w.work.Go(w.accept)
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		w.silence(false)
		w.cut()
		w.work.Wait()
	})
	return w
}

func (w *wire) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return // It was closed.
		}
		server, err := net.Dial("tcp", w.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		w.mu.Lock()
		w.ends[client], w.ends[server] = true, true
		w.mu.Unlock()
		w.work.Go(func() { w.pass(server, client) })
		w.work.Go(func() { w.pass(client, server) })
	}
}

// pass copies until one end is closed; what comes in a silence waits for its end.
func (w *wire) pass(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		w.mu.Lock()
		for w.silenced {
			w.changed.Wait()
		}
		w.mu.Unlock()
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			break
		}
	}
	_, _ = to.Close(), from.Close() // one of them is closed already
	w.mu.Lock()
	delete(w.ends, to)
	delete(w.ends, from)
	w.mu.Unlock()
}

// silence has nothing pass, or all again; connections stay, and new ones are taken.
func (w *wire) silence(is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silenced = is
	w.changed.Broadcast()
}

// cut closes what is connected now.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for end := range w.ends {
		_ = end.Close()
	}
}

// A wire passes on, breaks, and falls silent.
func TestWire(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	w := newWire(t, c.Kubeconfig)
	text, err := os.ReadFile(w.kubeconfig)
	if err != nil || strings.Contains(string(text), c.Config().Host) {
		t.Fatalf("the kubeconfig goes past the wire: %v", err)
	}
	sysop(t, w.kubeconfig, "graph", "namespace/default", "-o", "name").succeeds(t)
	connection, err := net.Dial("tcp", w.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	w.cutWhen(t, 2)
	if _, err := connection.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) || !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("a cut connection reads %v", err)
	}
}

// cutWhen cuts as soon as so many ends are connected.
func (w *wire) cutWhen(t *testing.T, ends int) {
	t.Helper()
	cluster.Eventually(t, limit, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.ends) < ends {
			return errors.New("nothing is connected")
		}
		return nil
	})
	w.cut()
}
