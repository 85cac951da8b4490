package source

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// serve answers a list or a get.
func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	f.world.RLock()
	if gv, rs := f.served(r.URL.Path); rs != "" && r.URL.Query().Has("watch") {
		f.world.RUnlock()
		f.watch(w, r, gv)
		return
	}
	defer f.world.RUnlock()
	if gv, rs := f.served(r.URL.Path); rs != "" {
		f.list(w, r, gv, rs)
		return
	}
	i := strings.LastIndexByte(r.URL.Path, '/')
	gv, rs := f.served(r.URL.Path[:i])
	name := r.URL.Path[i+1:]
	if rs == "" {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	for _, o := range f.objects[r.URL.Path[:i]] {
		if o.GetName() == name {
			f.send(w, r, gv, o.GetObjectKind().GroupVersionKind().Kind, f.encode(r, gv, o))
			return
		}
	}
	sendStatus(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", rs, name), name)
}

// served returns the group, version and resource of the path of a list.
func (f *fake) served(path string) (string, string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	gv, rest := "", []string(nil)
	switch {
	case parts[0] == "api" && len(parts) > 2:
		gv, rest = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		gv, rest = parts[1]+"/"+parts[2], parts[3:]
	}
	if len(rest) == 3 && rest[0] == "namespaces" {
		rest = rest[2:]
	}
	if len(rest) == 1 && slices.ContainsFunc(f.resources[gv], func(r metav1.APIResource) bool { return r.Name == rest[0] }) {
		return gv, rest[0]
	}
	return "", ""
}

func (f *fake) list(w http.ResponseWriter, r *http.Request, gv, rs string) {
	all := f.objects[r.URL.Path]
	if !strings.Contains(r.URL.Path, "/namespaces/") {
		for path, objects := range f.objects {
			if g, name := f.served(path); path != r.URL.Path && g == gv && name == rs {
				all = append(slices.Clone(all), objects...)
			}
		}
		slices.SortFunc(all, func(a, b fakeObject) int {
			return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
		})
	}
	if name := fieldName(r); name != "" {
		all = slices.DeleteFunc(slices.Clone(all), func(o fakeObject) bool { return o.GetName() != name })
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	to, next := len(all), ""
	if limit, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && from+limit < len(all) {
		to, next = from+limit, strconv.Itoa(from+limit)
	}
	if !f.protobuf(r, gv) {
		items := []json.RawMessage{}
		for _, o := range all[from:to] {
			items = append(items, f.encode(r, gv, o))
		}
		b, _ := json.Marshal(map[string]any{"kind": "SomeList", "apiVersion": gv, "metadata": map[string]any{"continue": next, "resourceVersion": f.version()}, "items": items})
		f.send(w, r, gv, "", b)
		return
	}
	meta, _ := (&metav1.ListMeta{Continue: next, ResourceVersion: f.version()}).Marshal()
	b := protowire.AppendBytes(protowire.AppendTag(nil, listMeta, protowire.BytesType), meta)
	for _, o := range all[from:to] {
		b = protowire.AppendBytes(protowire.AppendTag(b, listItems, protowire.BytesType), f.encode(r, gv, o))
	}
	f.send(w, r, gv, "SomeList", b)
}

func (f *fake) protobuf(r *http.Request, gv string) bool {
	group, _, _ := strings.Cut(gv, "/")
	return strings.Contains(r.Header.Get("Accept"), protobufType) && !f.jsonOnly[group]
}

// encode writes an object as the request would have it.
func (f *fake) encode(r *http.Request, gv string, o fakeObject) []byte {
	group, _, _ := strings.Cut(gv, "/")
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") && !f.jsonOnly[group] {
		meta := &metav1.PartialObjectMetadata{}
		meta.Name, meta.Namespace, meta.UID = o.GetName(), o.GetNamespace(), o.GetUID()
		meta.ResourceVersion = o.GetResourceVersion()
		meta.Labels, meta.Annotations, meta.ManagedFields = o.GetLabels(), o.GetAnnotations(), o.GetManagedFields()
		o = meta
	}
	var b []byte
	var err error
	if f.protobuf(r, gv) {
		b, err = o.Marshal()
	} else {
		b, err = json.Marshal(o)
	}
	if err != nil {
		panic(err)
	}
	return b
}

func (f *fake) send(w http.ResponseWriter, r *http.Request, gv, kind string, b []byte) {
	if !f.protobuf(r, gv) {
		w.Header().Set("Content-Type", jsonType)
		_, _ = w.Write(b)
		return
	}
	w.Header().Set("Content-Type", protobufType)
	_, _ = w.Write(enveloped(schema.FromAPIVersionAndKind(gv, kind), b))
}

// enveloped is protobuf as a server sends it.
func enveloped(gvk schema.GroupVersionKind, raw []byte) []byte {
	version, kind := gvk.ToAPIVersionAndKind()
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: version, Kind: kind}, Raw: raw}
	b, err := u.Marshal()
	if err != nil {
		panic(err)
	}
	return append([]byte(magic), b...)
}

func sendJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func sendStatus(w http.ResponseWriter, code int, reason metav1.StatusReason, message, name string) {
	sendJSON(w, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message, Details: &metav1.StatusDetails{Name: name},
	})
}
