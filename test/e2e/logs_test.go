package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// podLogs are files that the kubelets of the cluster show as logs.
type podLogs struct {
	t   *testing.T
	c   *cluster.Cluster
	ns  string
	dir string
}

func newPodLogs(t *testing.T, c *cluster.Cluster, ns string) podLogs {
	t.Helper()
	return podLogs{t, c, ns, t.TempDir()}
}

// morning is when the lines of the tests were written; they say how many seconds after.
const morning = "2026-11-15T09:00:"

// write adds lines to the log of a container of a pod, each "SECOND TEXT".
func (l podLogs) write(pod, container string, lines ...string) {
	l.t.Helper()
	var text strings.Builder
	for _, line := range lines {
		second, said, _ := strings.Cut(line, " ")
		fmt.Fprintf(&text, "%s%s.000000001Z stdout F %s\n", morning, second, said)
	}
	f, err := os.OpenFile(l.file(pod, container), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		l.t.Fatal(err)
	}
	_, err = f.WriteString(text.String())
	if err := f.Close(); err != nil {
		l.t.Fatal(err)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l podLogs) file(pod, container string) string {
	return filepath.Join(l.dir, pod+"."+container+".log")
}

// serve makes the logs of some containers of a pod known: the file of each is its log,
// and that of NAME.previous the one before.
func (l podLogs) serve(pod string, containers ...string) {
	l.t.Helper()
	var of strings.Builder
	for _, c := range containers {
		fmt.Fprintf(&of, "  - {containers: [%s], logsFile: %q, previousLogsFile: %q, follow: true}\n", c, l.file(pod, c), l.file(pod, c+".previous"))
	}
	applyText(l.t, l.c, fmt.Sprintf("apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Logs\nmetadata: {name: %s, namespace: %s}\nspec:\n  logs:\n%s", pod, l.ns, &of))
}

// db is a StatefulSet of two pods, with logs of two containers each.
func db(t *testing.T, c *cluster.Cluster) podLogs {
	t.Helper()
	l := newPodLogs(t, c, c.Namespace(t))
	l.write("db-0", "mysql", "01 one", "03 three", "05 five: error")
	l.write("db-1", "mysql", "02 two", "04 four", "06 \x1b[31msix\x1b]0;title\x07")
	for _, pod := range []string{"db-0", "db-1"} {
		l.write(pod, "exporter", "07 up")
		l.serve(pod, "mysql", "exporter")
	}
	l.start("db")
	return l
}

// start makes a StatefulSet and waits until its pods run.
func (l podLogs) start(name string) {
	l.t.Helper()
	applyText(l.t, l.c, strings.NewReplacer("NAMESPACE", l.ns, "NAME", name).Replace(`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: NAME, namespace: NAMESPACE}
spec:
  replicas: 2
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - {name: mysql, image: registry.example.com/mysql}
      - {name: exporter, image: registry.example.com/exporter}
`))
	cluster.Eventually(l.t, limit, func() error { return l.running(name, 2) })
}

func (l podLogs) running(name string, want int) error {
	pods, err := admin(l.c).CoreV1().Pods(l.ns).List(l.t.Context(), metav1.ListOptions{LabelSelector: "app=" + name})
	if err != nil {
		return err
	}
	n := 0
	for i := range pods.Items {
		if pods.Items[i].Status.Phase == corev1.PodRunning {
			n++
		}
	}
	if n != want {
		return fmt.Errorf("%d pods run, want %d", n, want)
	}
	return nil
}

// eventually waits until the command writes what is wanted: the kubelets hear of logs a
// moment after the API server.
func eventually(t *testing.T, want, kubeconfig string, args ...string) {
	t.Helper()
	cluster.Eventually(t, limit, func() error {
		if r := sysop(t, kubeconfig, args...); r.code != 0 || r.stdout != want {
			return fmt.Errorf("%v: exit code %d, stdout:\n%swant:\n%sstderr:\n%s", args, r.code, r.stdout, want, r.stderr)
		}
		return nil
	})
}

// The logs of a stack are put in order; the flags say which lines.
func TestLogs(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	l := db(t, c)
	all := `db-0 mysql | one
db-1 mysql | two
db-0 mysql | three
db-1 mysql | four
db-0 mysql | five: error
db-1 mysql | six\x1b]0;title\x07
db-0 exporter | up
db-1 exporter | up
`
	eventually(t, all, c.Kubeconfig, "logs", "statefulset/db", "-n", l.ns)
	for args, want := range map[string]string{
		"--max-streams 1":                                all,
		"--tail 1 -c mysql":                              "db-0 mysql | five: error\ndb-1 mysql | six\\x1b]0;title\\x07\n",
		"--grep f[io] --exclude error":                   "db-1 mysql | four\n",
		"--since-time " + morning + "06Z -c mysql":       "db-1 mysql | six\\x1b]0;title\\x07\n",
		"--grep two --no-prefix --timestamps --owned":    morning + "02.000000001Z two\n",
		"--since 1s":                                     "",
		"--grep one -o json":                             `{"apiVersion":"sysop.dev/v1alpha1","kind":"LogLine","namespace":"` + l.ns + `","pod":"db-0","container":"mysql","node":"NODE","time":"` + morning + `01.000000001Z","message":"one"}` + "\n",
		"--grep three --color always --no-prefix":        "\x1b[1;7mthree\x1b[0m\n",
		"statefulset/db --tail 0 --all-containers=false": "",
	} {
		r := sysop(t, c.Kubeconfig, append([]string{"logs", "statefulset/db", "-n", l.ns}, strings.Fields(args)...)...).succeeds(t)
		pod, err := admin(c).CoreV1().Pods(l.ns).Get(t.Context(), "db-0", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want = strings.ReplaceAll(want, "NODE", pod.Spec.NodeName); r.stdout != want {
			t.Errorf("%s:\n%s\nwant:\n%s", args, r.stdout, want)
		}
	}
	sysop(t, c.Kubeconfig, "logs", "statefulset/db", "-n", l.ns, "-c", "web").fails(t, "no pod of the stack has a container web", "there are exporter, mysql")
	sysop(t, c.Kubeconfig, "logs", "statefulset/db", "-n", l.ns, "--previous").fails(t, "none of the 4 containers was restarted")
	l.write("db-1", "mysql.previous", "00 dying")
	restarted := `{"status":{"containerStatuses":[{"name":"mysql","restartCount":1,"lastState":{"terminated":{"exitCode":1,"containerID":"x://1"}}}]}}`
	if _, err := admin(c).CoreV1().Pods(l.ns).Patch(t.Context(), "db-1", types.StrategicMergePatchType, []byte(restarted), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "db-1 mysql | dying\n", c.Kubeconfig, "logs", "statefulset/db", "-n", l.ns, "--previous")
}

// Logs that cannot be read are told, and do not end the others.
func TestLogsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	mine, other := db(t, c), newPodLogs(t, c, c.Namespace(t))
	other.start("db")
	name := "reader-of-logs-in-" + mine.ns
	kubeconfig := user(t, c, name, mine.ns, "/pods", "/pods/log", "apps/statefulsets")
	lister := user(t, c, name+"-but-not-there", other.ns, "/pods", "apps/statefulsets")
	blind := user(t, c, name+"-and-no-pods", mine.ns, "apps/statefulsets")
	both := user(t, c, name+"-and-there", mine.ns, "/pods", "/pods/log", "apps/statefulsets")
	again := user(t, c, name+"-and-there", other.ns, "/pods", "apps/statefulsets")
	const want = "db-0 mysql | five: error\n"
	eventually(t, want, kubeconfig, "logs", "statefulset/db", "-n", mine.ns, "--grep", "error")

	cluster.Eventually(t, limit, func() error {
		r := sysop(t, lister, "logs", "statefulset/db", "-n", other.ns)
		if r.code != 1 || r.stdout != "" || strings.Count(r.stderr, "pods/log") != 1 || !strings.Contains(r.stderr, "error: no log could be read (of 4)") {
			return fmt.Errorf("exit code %d, stdout %q, stderr:\n%s", r.code, r.stdout, r.stderr)
		}
		return nil
	})
	for _, follow := range []string{"-f=false", "-f"} {
		sysop(t, blind, "logs", "statefulset/db", "-n", mine.ns, follow).fails(t, "read the pods of statefulset/db: ", "cannot list resource \"pods\"")
	}
	if r := sysop(t, lister, "logs", "statefulset/db", "-n", other.ns, "-f"); r.code != 1 || !strings.Contains(r.stderr, "error: no log could be read: ") {
		t.Errorf("following: exit code %d, stderr:\n%s", r.code, r.stderr)
	}
	_ = again // one user, of whom the second file says the same
	cluster.Eventually(t, limit, func() error {
		r := sysop(t, both, "logs", "statefulset/"+mine.ns+"/db", "statefulset/"+other.ns+"/db", "--grep", "error")
		if r.code != 0 || r.stdout != mine.ns+"/"+want || strings.Count(r.stderr, "pods/log") != 1 || !strings.Contains(r.stderr, other.ns+"/db-0 mysql, ") {
			return fmt.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", r.code, r.stdout, r.stderr)
		}
		return nil
	})

	p := proxy(t, c, "")
	p.Inject(faults.Fault{Match: faults.Path("/pods/db-1/log"), Effect: faults.InternalError()})
	r := sysop(t, p.Kubeconfig(), "logs", "statefulset/db", "-n", mine.ns, "-c", "mysql").succeeds(t)
	if strings.Contains(r.stdout, "db-1") || strings.Count(r.stdout, "db-0") != 3 || !strings.Contains(r.stderr, "not read: the log of db-1 mysql: ") {
		t.Errorf("stdout:\n%s\nstderr:\n%s", r.stdout, r.stderr)
	}
}

// What comes is followed: lines, pods, and restarts of the watch; what goes is told.
func TestLogsFollow(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	l := db(t, c)
	eventually(t, "db-0 mysql | one\n", c.Kubeconfig, "logs", "statefulset/db", "-n", l.ns, "--grep", "one")
	run := start(t, c.Kubeconfig, "logs", "statefulset/db", "-n", l.ns, "-f", "--tail", "1", "-c", "mysql", "-o", "json")
	says := func(pod, message string) {
		t.Helper()
		cluster.Eventually(t, limit, func() error {
			found := 0
			for line := range strings.Lines(run.stdout.String()) {
				var said struct{ Pod, Message string }
				if err := json.Unmarshal([]byte(line), &said); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				if said.Pod == pod && said.Message == message {
					found++
				}
			}
			if found != 1 {
				return fmt.Errorf("%d lines %q of %s in:\n%s\nstderr:\n%s", found, message, pod, &run.stdout, &run.stderr)
			}
			return nil
		})
	}
	told := func(words string) {
		t.Helper()
		cluster.Eventually(t, limit, func() error {
			if !strings.Contains(run.stderr.String(), words) {
				return fmt.Errorf("no %q on stderr:\n%s", words, &run.stderr)
			}
			return nil
		})
	}
	says("db-0", "five: error")
	l.write("db-0", "mysql", "08 eight")
	says("db-0", "eight")

	l.write("db-2", "mysql", "09 nine", "10 ten")
	l.serve("db-2", "mysql", "exporter")
	scale := func(n int) {
		t.Helper()
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n)
		if _, err := admin(c).AppsV1().StatefulSets(l.ns).Patch(t.Context(), "db", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	scale(3)
	says("db-2", "nine") // All of it, whatever --tail says: it was not there at the beginning.
	says("db-2", "ten")
	scale(2)
	told("db-2 is gone from the stack")
	l.write("db-1", "mysql", "11 eleven")
	says("db-1", "eleven")
	says("db-0", "eight")

	if err := run.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if r := run.wait(); r.code != 0 || strings.Contains(r.stderr, "interrupted") {
		t.Errorf("exit code %d, stderr:\n%s", r.code, r.stderr)
	}
	t.Logf("ended %d ms after the signal", time.Since(began).Milliseconds())
}
