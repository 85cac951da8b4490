package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// coreosVersionField looks at the kinds whose objects run something that lasts.
func coreosVersionField(d *Definition, r *Result) {
	if !slices.ContainsFunc(d.Workloads(), (*Workload).IsLongRunning) {
		return
	}
	storage := d.Storage()
	if storage == nil || storage.Schema == nil || storage.Schema.OpenAPIV3Schema == nil {
		r.AddUnknown(d.Ref, "it has no schema")
		return
	}
	spec, ok := storage.Schema.OpenAPIV3Schema.Properties["spec"]
	if !ok || schemaOpen(&spec) && len(spec.Properties) == 0 {
		r.AddUnknown(d.Ref, "its schema does not say what fields the spec has")
		return
	}
	const deep = 4
	if path := coreosVersionPath("spec", &spec, deep); path != "" {
		r.Pass(d.Ref)
		return
	}
	r.AddFinding(Finding{
		Object: d.Ref, Field: "spec.versions[].schema.openAPIV3Schema.properties.spec",
		Message: fmt.Sprintf("a %s has no field for the version or the image to run", d.Kind.Kind),
	})
}

// coreosVersionPath finds the field in which a version or an image is stated, at a depth of
// so many fields at most; the least deep one.
func coreosVersionPath(path string, s *apiextensionsv1.JSONSchemaProps, deep int) string {
	names := slices.Sorted(maps.Keys(s.Properties))
	for _, name := range names {
		if coreosStatesVersion(name) {
			return path + "." + name
		}
	}
	if deep == 1 {
		return ""
	}
	for _, name := range names {
		below := s.Properties[name]
		if found := coreosVersionPath(path+"."+name, &below, deep-1); found != "" {
			return found
		}
		if items := coreosItems(&below); items != nil {
			if found := coreosVersionPath(path+"."+name+"[]", items, deep-1); found != "" {
				return found
			}
		}
	}
	return ""
}

// coreosStatesVersion says that a field's name is that of a version or an image of what is
// run, and not of an API or a protocol.
func coreosStatesVersion(name string) bool {
	lower := strings.ToLower(name)
	switch lower {
	case "apiversion", "resourceversion", "tlsversion", "minversion", "maxversion", "imagepullpolicy", "imagepullsecrets", "imagepullsecret", "httpversion", "ipversion", "schemaversion":
		return false
	case "release", "tag", "distribution":
		return true
	}
	return strings.HasSuffix(lower, "version") || strings.HasPrefix(lower, "image") || strings.HasSuffix(lower, "image")
}

// coreosVersionActedOn compares what instances state with the images of their pods.
func coreosVersionActedOn(d *Definition, r *Result) {
	for _, ref := range d.Instances {
		said := d.World.Facts.Versions(ref)
		want := cmp.Or(said["spec.version"], said["spec.tag"], said["spec.imageTag"], said["spec.imageVersion"])
		image := cmp.Or(said["spec.image"], said["spec.imageName"])
		field := coreosFieldOf(said)
		if want == "" && image == "" {
			continue
		}
		runs := coreosRuns(d, ref)
		if len(runs) == 0 {
			continue
		}
		switch verdict, got := coreosCompare(d.Kind.Kind, want, image, runs); verdict {
		case coreosSame:
			r.Pass(ref)
		case coreosOlder:
			stated := cmp.Or(want, image)
			if !coreosSettled(d, ref) {
				r.AddUnknown(ref, fmt.Sprintf("%s is requested, %s runs, and pods are being replaced", stated, got))
				continue
			}
			f := Finding{
				Object: ref, Field: field, Value: stated, Related: []object.Ref{runs[0].of},
				Message: fmt.Sprintf("%s is requested, and its pods run %s: the operator has not processed it yet, or is stuck", stated, got),
			}
			r.AddFinding(f)
		default:
			if status := said["status.version"]; status != "" && coreosVersionsAgree(want, status) {
				r.Pass(ref)
				continue
			}
			r.AddUnknown(ref, fmt.Sprintf("%s is requested, and it is unknown which image of its pods that means", cmp.Or(want, image)))
		}
	}
}

func coreosFieldOf(said map[string]string) string {
	for _, name := range []string{"spec.version", "spec.tag", "spec.imageTag", "spec.imageVersion", "spec.image", "spec.imageName"} {
		if said[name] != "" {
			return name
		}
	}
	return ""
}

// coreosRun is a container of an instance's pods.
type coreosRun struct {
	of    object.Ref
	name  string
	text  string
	image Image
}

// coreosRuns returns the containers of the lasting workloads that an instance owns, each
// different image once, in order.
func coreosRuns(d *Definition, ref object.Ref) []coreosRun {
	var out []coreosRun
	for _, wl := range d.World.workloadsOf(d.World.Owned(ref)) {
		if !wl.IsLongRunning() || len(wl.Pods) == 0 {
			continue
		}
		for _, spec := range wl.Specs() {
			for _, c := range spec.Containers {
				out = append(out, coreosRun{of: wl.Ref, name: c.Name, text: c.Image, image: ParseImage(c.Image)})
			}
		}
	}
	return out
}

// coreosSettled says that no workload of an instance is being rolled out.
func coreosSettled(d *Definition, ref object.Ref) bool {
	for _, wl := range d.World.workloadsOf(d.World.Owned(ref)) {
		switch o := wl.Object.(type) {
		case *appsv1.Deployment:
			if o.Status.ObservedGeneration < o.Generation || o.Status.UpdatedReplicas < wl.Replicas {
				return false
			}
		case *appsv1.StatefulSet:
			if o.Status.ObservedGeneration < o.Generation || o.Status.UpdateRevision != o.Status.CurrentRevision {
				return false
			}
		}
	}
	return true
}

type coreosVerdict uint8

const (
	coreosUnknown coreosVerdict = iota
	coreosSame
	coreosOlder
)

// coreosCompare says whether containers run what is stated. One that does is enough; that
// an older one runs is said only of the container that goes by the name of the kind, or has
// the repository of the stated image.
func coreosCompare(kind, want, image string, runs []coreosRun) (coreosVerdict, string) {
	if image != "" {
		if slices.ContainsFunc(runs, func(c coreosRun) bool { return c.text == image }) {
			return coreosSame, ""
		}
		stated := ParseImage(image)
		for _, c := range runs {
			if want == "" && c.image.Repository == stated.Repository && coreosIsOlder(c.image.Tag, stated.Tag) {
				return coreosOlder, c.text
			}
		}
	}
	if want == "" {
		return coreosUnknown, ""
	}
	if slices.ContainsFunc(runs, func(c coreosRun) bool { return coreosVersionsAgree(want, c.image.Tag) }) {
		return coreosSame, ""
	}
	for _, c := range runs {
		named := operatorPlain(c.name) == operatorPlain(kind) || operatorPlain(c.image.Name()) == operatorPlain(kind)
		if named && coreosIsOlder(c.image.Tag, want) {
			return coreosOlder, c.text
		}
	}
	return coreosUnknown, ""
}

// coreosVersionsAgree says that a tag is of a version: 15.4-bookworm of 15, v2.0.1 of 2.0.1.
func coreosVersionsAgree(want, tag string) bool {
	if want == "" || tag == "" {
		return false
	}
	if want == tag {
		return true
	}
	a, b := coreosNumbers(want), coreosNumbers(tag)
	return len(a) > 0 && len(b) >= len(a) && slices.Equal(a, b[:len(a)])
}

// coreosIsOlder says that both are versions with at least two numbers, and the first is
// plainly the smaller.
func coreosIsOlder(tag, want string) bool {
	a, b := coreosNumbers(tag), coreosNumbers(want)
	const enough = 2
	if len(a) < enough || len(b) < enough {
		return false
	}
	n := min(len(a), len(b))
	return slices.Compare(a[:n], b[:n]) < 0
}

// coreosNumbers returns the numbers at the start of a version: 2, 0 and 1 of v2.0.1-rc.1.
func coreosNumbers(version string) []int {
	version = strings.TrimLeft(version, "vV")
	end := strings.IndexFunc(version, func(c rune) bool { return c != '.' && (c < '0' || c > '9') })
	if end >= 0 {
		version = version[:end]
	}
	var out []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		out = append(out, n)
	}
	return out
}
