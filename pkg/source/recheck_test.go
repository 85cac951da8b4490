package source

import (
	"net/http"
	"strings"
	"testing"
)

// TestDiscoveryIsAskedAgainAboutWhatIsNotFound has a cache on disk that names what is gone, or
// is served in another version.
func TestDiscoveryIsAskedAgainAboutWhatIsNotFound(t *testing.T) {
	for name, c := range map[string]struct {
		after func(f *fake)
		read  string
		gaps  string
		again int // how often the next run finds something missing
	}{
		"gone": {func(f *fake) { delete(f.resources, "x.example.com/v1") }, "", "", 0},
		"another version": {func(f *fake) {
			f.resources["x.example.com/v2"] = f.resources["x.example.com/v1"]
			delete(f.resources, "x.example.com/v1")
			f.put("/apis/x.example.com/v2/namespaces/shop/widgets", widget("w2"))
		}, "Widget.x.example.com/shop/w2", "", 0},
		"still named": {func(f *fake) { f.fault = f.notFound(widgets) }, "", "widgets.x.example.com@shop:NotServed", 1},
	} {
		t.Run(name, func(t *testing.T) {
			f, dir := newFake(t), t.TempDir()
			f.onlyPods()
			f.jsonOnly["x.example.com"] = true
			f.serveWidgets(true)
			before, _ := f.cluster(t, ClusterOptions{Discovery: f.onDisk(t, dir)})
			known(t, before)
			c.after(f)
			f.forget()
			cluster, _ := f.cluster(t, ClusterOptions{Discovery: f.onDisk(t, dir)})
			for range 2 {
				got := newRecorder()
				if err := cluster.Read(t.Context(), shop, got); err != nil {
					t.Fatal(err)
				}
				if got.names() != c.read || got.reasons() != c.gaps {
					t.Errorf("read %s, gaps %s; want %s, %s", got.names(), got.reasons(), c.read, c.gaps)
				}
			}
			if n := f.count("/apis"); n != 1 {
				t.Errorf("discovery is asked %d times", n)
			}
			f.forget()
			next, _ := f.cluster(t, ClusterOptions{Discovery: f.onDisk(t, dir)})
			if err := next.Read(t.Context(), shop, newRecorder()); err != nil {
				t.Fatal(err)
			}
			if n := f.count(widgets); n != c.again || f.count("/apis") != c.again {
				t.Errorf("the next run asks %d times for what is gone, and %d times for what is served", n, f.count("/apis"))
			}
		})
	}
}

// A group whose discovery fails may still serve its kinds.
func TestWhatIsNotKnownToBeGoneStaysAGap(t *testing.T) {
	f, dir := newFake(t), t.TempDir()
	f.onlyPods()
	f.Config.ErrorLog = quiet()
	f.serveWidgets(true)
	before, _ := f.cluster(t, ClusterOptions{Discovery: f.onDisk(t, dir)})
	known(t, before)
	f.fault = f.notFound("/apis/x.example.com/v1")
	cluster, _ := f.cluster(t, ClusterOptions{Discovery: f.onDisk(t, dir)})
	got := newRecorder()
	if err := cluster.Read(t.Context(), shop, got); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.reasons(), "x.example.com") {
		t.Errorf("gaps %s", got.reasons())
	}
}

// notFound answers what is at a path or below it with a 404 that names no object.
func (f *fake) notFound(at string) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !strings.HasPrefix(r.URL.Path, at) {
			return false
		}
		http.Error(w, "404 page not found", http.StatusNotFound)
		return true
	}
}
