package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// happened is something that watches of a path are told.
type happened struct {
	event  watch.EventType
	path   string // of the list in its namespace
	object fakeObject
}

// ending is how watches that are open at a version end.
type ending struct {
	version int
	how     string // cleanly, cut (in the middle of a frame), or expired (in an event)
}

const firstVersion = 7

// version is that of all that has happened.
func (f *fake) version() string {
	if f.unversioned.Load() {
		return ""
	}
	return strconv.Itoa(firstVersion + len(f.past))
}

// put makes an object, or replaces the one of its name.
func (f *fake) put(list string, o fakeObject) {
	f.world.Lock()
	defer f.world.Unlock()
	event, objects := watch.Added, f.objects[list]
	if i := slices.IndexFunc(objects, func(other fakeObject) bool { return other.GetName() == o.GetName() }); i >= 0 {
		event, objects = watch.Modified, slices.Delete(slices.Clone(objects), i, i+1)
	}
	f.objects[list] = append(slices.Clip(objects), o)
	f.tell(event, list, o)
}

// remove deletes an object.
func (f *fake) remove(list, name string) {
	f.world.Lock()
	defer f.world.Unlock()
	objects := slices.Clone(f.objects[list])
	i := slices.IndexFunc(objects, func(other fakeObject) bool { return other.GetName() == name })
	if i < 0 {
		return
	}
	gone := objects[i].DeepCopyObject().(fakeObject)
	f.objects[list] = slices.Delete(objects, i, i+1)
	f.tell(watch.Deleted, list, gone)
}

// bookmark tells all watches how far they have come.
func (f *fake) bookmark() {
	f.world.Lock()
	defer f.world.Unlock()
	f.tell(watch.Bookmark, "", &metav1.PartialObjectMetadata{})
}

func (f *fake) tell(event watch.EventType, list string, o fakeObject) {
	f.past = append(f.past, happened{event, list, o})
	o.SetResourceVersion(f.version())
	close(f.news)
	f.news = make(chan struct{})
}

// end ends all watches that are open. What happens after it, they are not told.
func (f *fake) end(mode string) {
	f.world.Lock()
	defer f.world.Unlock()
	f.ends = append(f.ends, ending{len(f.past), mode})
	close(f.news)
	f.news = make(chan struct{})
}

// compact forgets what has happened so far.
func (f *fake) compact() {
	f.world.Lock()
	defer f.world.Unlock()
	f.oldest = firstVersion + len(f.past)
}

// fieldName is the name that a field selector chooses.
func fieldName(r *http.Request) string {
	name, ok := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name=")
	if !ok {
		return ""
	}
	return name
}

// watch streams what happens.
func (f *fake) watch(w http.ResponseWriter, r *http.Request, gv string) {
	f.world.RLock()
	at, ends, oldest := 0, len(f.ends), f.oldest
	f.world.RUnlock()
	from, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil || from < firstVersion {
		panic("a watch from " + r.URL.RawQuery)
	}
	if from < oldest {
		sendStatus(w, http.StatusGone, metav1.StatusReasonExpired, "too old resource version", "")
		return
	}
	w.Header().Set("Content-Type", jsonType)
	if f.protobuf(r, gv) {
		w.Header().Set("Content-Type", protobufType+";stream=watch")
	}
	w.(http.Flusher).Flush()
	f.mu.Lock()
	f.opened[r.URL.Path]++
	f.mu.Unlock()
	f.signal()
	for at = from - firstVersion; ; {
		f.world.RLock()
		past, news, mode := f.past, f.news, ""
		if len(f.ends) > ends {
			past, mode = past[:f.ends[ends].version], f.ends[ends].how
		}
		var frames [][]byte
		for _, h := range past[min(at, len(past)):] {
			if h.event == watch.Bookmark || f.concerns(r, h) {
				frames = append(frames, f.frame(r, gv, h))
			}
		}
		f.world.RUnlock()
		at = max(at, len(past))
		for _, b := range frames {
			_, _ = w.Write(b)
		}
		w.(http.Flusher).Flush()
		switch mode {
		case "cleanly":
			return
		case "cut":
			b := f.frame(r, gv, happened{watch.Added, r.URL.Path, pod("shop", "half")})
			_, _ = w.Write(b[:len(b)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "expired":
			_, _ = w.Write(f.expired(r, gv))
			return
		}
		select {
		case <-news:
		case <-r.Context().Done():
			return
		}
	}
}

func (f *fake) concerns(r *http.Request, h happened) bool {
	if name := fieldName(r); name != "" && h.object.GetName() != name {
		return false
	}
	if r.URL.Path == h.path {
		return true
	}
	dir, rs := path.Split(h.path)
	root, _, namespaced := strings.Cut(dir, "/namespaces/")
	return namespaced && r.URL.Path == path.Join(root, rs)
}

func (f *fake) frame(r *http.Request, gv string, h happened) []byte {
	b := f.encode(r, gv, h.object)
	if f.protobuf(r, gv) {
		b = enveloped(schema.FromAPIVersionAndKind(gv, "Some"), b)
	}
	return f.framed(r, gv, metav1.WatchEvent{Type: string(h.event), Object: runtime.RawExtension{Raw: b}})
}

func (f *fake) expired(r *http.Request, gv string) []byte {
	status := &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version",
	}
	b, _ := json.Marshal(status)
	if f.protobuf(r, gv) {
		b, _ = status.Marshal()
		b = enveloped(schema.GroupVersionKind{Version: "v1", Kind: "Status"}, b)
	}
	return f.framed(r, gv, metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Raw: b}})
}

// framed writes an event with the serializers of a real server.
func (f *fake) framed(r *http.Request, gv string, e metav1.WatchEvent) []byte {
	media := jsonType
	if f.protobuf(r, gv) {
		media = protobufType
	}
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), media)
	if !ok {
		panic(media)
	}
	var out bytes.Buffer
	w := info.StreamSerializer.NewFrameWriter(&out)
	if err := streaming.NewEncoder(w, info.StreamSerializer.Serializer).Encode(&e); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// watches returns how many watches of a path were opened, and lists how many pages of
// its list were read.
func (f *fake) watches(list string) int { return f.asked(list, true) }

func (f *fake) lists(list string) int { return f.asked(list, false) }

func (f *fake) asked(list string, watch bool) int {
	n := 0
	for _, r := range f.log() {
		if r.path == list && strings.Contains(r.query, "watch=true") == watch {
			n++
		}
	}
	return n
}

// isOpen says that so many watches of a path have begun to stream.
func (f *fake) isOpen(list string, n int) func() bool {
	return func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.opened[list] == n
	}
}

func (f *fake) signal() {
	select {
	case f.came <- struct{}{}:
	default:
	}
}

// until waits for a request that makes something true.
func (f *fake) until(t *testing.T, done func() bool) {
	t.Helper()
	for !done() {
		select {
		case <-f.came:
		case <-time.After(never):
			t.Fatal("no more requests come")
		}
	}
}

// refuseWatch answers watches of pods with a status.
func refuseWatch(code int, reason metav1.StatusReason, after string) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !r.URL.Query().Has("watch") || !strings.HasSuffix(r.URL.Path, "/pods") {
			return false
		}
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		sendStatus(w, code, reason, fmt.Sprintf("no watch: %s", reason), "")
		return true
	}
}

// atomicSet is a set of paths that changes as a whole.
type atomicSet struct{ paths atomic.Pointer[[]string] }

func (s *atomicSet) set(paths ...string) { s.paths.Store(&paths) }

func (s *atomicSet) has(path string) bool { return slices.Contains(*s.paths.Load(), path) }

func TestTheFakeTellsWhatConcernsAWatch(t *testing.T) {
	f := &fake{}
	h := happened{path: podsOfShop, object: pod("shop", "a")}
	for target, want := range map[string]bool{
		podsOfShop: true, "/api/v1/pods": true, "/api/v1/namespaces/other/pods": false, "/api/v1/secrets": false,
		"/apis/apps/v1/pods": false, podsOfShop + "?fieldSelector=metadata.name%3Da": true, podsOfShop + "?fieldSelector=metadata.name%3Db": false,
	} {
		r, _ := http.NewRequest(http.MethodGet, target, http.NoBody)
		if got := f.concerns(r, h); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
}
