package operator

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// search is the state of a search for operators, and the signs that were found.
type search struct {
	w        *check.ClusterState
	defs     []definition
	everyDef []int
	byGroup  map[string][]int
	// byDomain are the definitions by the domain of their group. Groups of Kubernetes (k8s.io)
	// have no common owner: each is a domain of its own.
	byDomain  map[string][]int
	workloads []workload
	number    map[object.Ref]int
	// The indexes that find workloads: label=value, namespace/release, owner, words of their
	// names and of their images.
	labelled, released map[string][]int
	named, imaged      map[string][]int
	ownedBy            map[object.Ref][]int
	served             map[object.Ref][]int
	// signs are those of each definition, by workload.
	signs []map[int]*workloadSigns
	// homes are the domains of the groups in which each workload may write a status.
	homes map[int]map[string]bool
	// loose is set where accounts have permissions through groups, which are not followed.
	loose bool
}

// workloadSigns are the signs of one workload and definition, and for each the first place
// that shows it.
type workloadSigns struct {
	has   signSet
	where map[signSet]string
}

// workload is a candidate for an operator: a workload that runs until it is deleted.
type workload struct {
	*check.Workload
	accounts []object.Ref
	labels   map[string]string
	stem     string
	images   []string
	// top is the custom resource that made it, if any.
	top object.Ref
	// any and all are set where it may write, or do anything with, all objects.
	any, all bool
}

func newSearch(w *check.ClusterState) *search {
	s := &search{
		w: w, defs: definitionsThere(w), byGroup: map[string][]int{}, byDomain: map[string][]int{}, number: map[object.Ref]int{},
		labelled: map[string][]int{}, released: map[string][]int{}, named: map[string][]int{}, imaged: map[string][]int{},
		homes: map[int]map[string]bool{}, ownedBy: map[object.Ref][]int{}, served: map[object.Ref][]int{},
	}
	for i := range s.defs {
		s.byGroup[s.defs[i].group] = append(s.byGroup[s.defs[i].group], i)
		domain := groupDomain(s.defs[i].group)
		s.byDomain[domain] = append(s.byDomain[domain], i)
		s.everyDef = append(s.everyDef, i)
	}
	s.signs = make([]map[int]*workloadSigns, len(s.defs))
	if len(s.defs) == 0 {
		return s
	}
	for _, wl := range w.Workloads() {
		if wl.IsLongRunning() {
			s.workload(wl)
		}
	}
	s.permissions()
	s.webhooks()
	s.marks()
	s.compare()
	return s
}

func (s *search) workload(wl *check.Workload) {
	i := len(s.workloads)
	o := workload{Workload: wl, labels: s.w.Labels(wl.Ref), stem: stem(wl.Ref.Name)}
	o.accounts = wl.Accounts()
	for _, image := range wl.Images() {
		if !slices.Contains(o.images, image.Repository) {
			o.images = append(o.images, image.Repository)
		}
	}
	if top := s.w.Top(wl.Ref); top != wl.Ref && s.custom(top.GroupKind()) {
		if wl.Ref.Kind == "Pod" {
			// A workload that an operator runs may write its state to its own custom resource.
			return
		}
		o.top = top
	}
	s.number[wl.Ref] = i
	for key, value := range o.labels {
		s.labelled[key+"="+value] = append(s.labelled[key+"="+value], i)
	}
	if name, ns := s.w.HelmRelease(wl.Ref); name != "" {
		s.released[ns+"/"+name] = append(s.released[ns+"/"+name], i)
	}
	for _, owner := range s.w.Owners(wl.Ref) {
		s.ownedBy[owner] = append(s.ownedBy[owner], i)
	}
	index := func(in map[string][]int, words ...string) {
		for _, word := range words {
			word = check.PlainName(word)
			if at := in[word]; word != "" && (len(at) == 0 || at[len(at)-1] != i) {
				in[word] = append(at, i)
			}
		}
	}
	index(s.named, wl.Ref.Name, o.stem, o.labels["app.kubernetes.io/name"], o.labels["app.kubernetes.io/part-of"])
	for _, image := range o.images {
		for _, part := range parts(image) {
			index(s.imaged, part, stem(part))
		}
	}
	s.workloads = append(s.workloads, o)
}

func (s *search) custom(gk schema.GroupKind) bool {
	r, ok := s.w.Kinds.Kind(gk)
	return ok && r.Custom
}

// sign adds one or several signs, and keeps the first place of each.
func (s *search) sign(def, wl int, sign signSet, place string) {
	if s.signs[def] == nil {
		s.signs[def] = map[int]*workloadSigns{}
	}
	have := s.signs[def][wl]
	if have == nil {
		have = &workloadSigns{where: map[signSet]string{}}
		s.signs[def][wl] = have
	}
	for bit := signStatus; bit <= signAlone; bit <<= 1 {
		if !sign.has(bit) {
			continue
		}
		// Callers walk maps, so the smallest place is kept, for a stable report.
		if first, ok := have.where[bit]; !ok || place < first {
			have.where[bit] = place
		}
	}
	have.has |= sign
}

func (s *search) signsOf(def, wl int) signSet {
	if have := s.signs[def][wl]; have != nil {
		return have.has
	}
	return 0
}

// compare finds the signs that depend on other workloads and definitions: signSibling and
// signAlone. Each step needs the one before for all definitions.
func (s *search) compare() {
	for i, signs := range s.signs {
		s.atHomeIn(groupDomain(s.defs[i].group), signs)
	}
	for i, signs := range s.signs {
		s.siblings(i, signs)
	}
	for i, signs := range s.signs {
		s.signSoleWriters(i, signs)
	}
}

// atHomeIn collects the domains in which workloads write the status of kinds.
func (s *search) atHomeIn(domain string, signs map[int]*workloadSigns) {
	for wl, have := range signs {
		if !have.has.has(signStatus | signGroup) {
			continue
		}
		if s.homes[wl] == nil {
			s.homes[wl] = map[string]bool{}
		}
		s.homes[wl][domain] = true
	}
}

// siblings adds signSibling: a workload that writes the status of another kind of the domain
// may run this one too.
func (s *search) siblings(def int, signs map[int]*workloadSigns) {
	for wl, have := range signs {
		if s.workloads[wl].any {
			have.has |= signAny
		}
		if have.has.has(signStatus) || !have.has.has(signRead|signWrite) {
			continue
		}
		inDomain := s.byDomain[groupDomain(s.defs[def].group)]
		if at := slices.IndexFunc(inDomain, func(sibling int) bool { return s.signsOf(sibling, wl).has(signStatus) }); at >= 0 {
			s.sign(def, wl, signSibling, s.defs[inDomain[at]].plural)
		}
	}
}

// signSoleWriters signs the only workloads that may do something with the objects of a definition.
func (s *search) signSoleWriters(def int, signs map[int]*workloadSigns) {
	writers := s.holders(signs, signStatus|signGroup|signFinalizers|signWrite)
	if len(writers) == 0 {
		writers = s.holders(signs, signRead)
	}
	// A webhook that admits their writes counts as a participant.
	all := append(s.holders(signs, signWebhook), writers...)
	for _, wl := range writers {
		if s.alike(all, wl) && s.atHome(wl, groupDomain(s.defs[def].group)) {
			s.sign(def, wl, signAlone, "")
		}
	}
}

func (s *search) holders(signs map[int]*workloadSigns, wanted signSet) []int {
	var out []int
	for wl, have := range signs {
		if have.has.has(wanted) {
			out = append(out, wl)
		}
	}
	slices.Sort(out)
	return out
}

// atHome reports whether a workload writes the status of kinds of this domain, or of none. An
// operator of another domain only uses this one: cert-manager may write the finalizers of an
// HTTPRoute, and does not run it.
func (s *search) atHome(wl int, domain string) bool {
	return len(s.homes[wl]) == 0 || s.homes[wl][domain]
}

// alike reports whether all workloads are of the same operator as one.
func (s *search) alike(all []int, one int) bool {
	return !slices.ContainsFunc(all, func(other int) bool { return other != one && !s.kin(one, other) && !s.twins(one, other) })
}
