package check

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// operatorSearch is what is looked at to find operators, and the signs that were found.
type operatorSearch struct {
	w        *ClusterState
	defs     []operatorDefinition
	everyDef []int
	byGroup  map[string][]int
	// byDomain are the definitions whose groups belong together. What is of Kubernetes
	// itself (k8s.io) is everybody's: there only the same group counts.
	byDomain  map[string][]int
	workloads []operatorWorkload
	number    map[object.Ref]int
	// What workloads are found by: label=value, namespace/release, owner, words of their
	// names and of their images.
	labelled, released map[string][]int
	named, imaged      map[string][]int
	ownedBy            map[object.Ref][]int
	served             map[object.Ref][]int
	// signs are those of each definition, by workload.
	signs []map[int]*operatorSigns
	// homes are the domains of the groups in which each workload may write a status.
	homes map[int]map[string]bool
	// loose says that accounts have rights by groups, which are not followed.
	loose bool
}

// operatorSigns are the signs of one workload and definition, and for each the first thing
// that says so.
type operatorSigns struct {
	has   operatorSign
	where map[operatorSign]string
}

// operatorWorkload is what may be an operator: something that runs on and on.
type operatorWorkload struct {
	*Workload
	accounts []object.Ref
	labels   map[string]string
	stem     string
	images   []string
	// top is what made it, if that is a custom resource.
	top object.Ref
	// any and all say that it may write, or do something with, whatever there is.
	any, all bool
}

func newOperatorSearch(w *ClusterState) *operatorSearch {
	s := &operatorSearch{
		w: w, defs: w.definitionsThere(), byGroup: map[string][]int{}, byDomain: map[string][]int{}, number: map[object.Ref]int{},
		labelled: map[string][]int{}, released: map[string][]int{}, named: map[string][]int{}, imaged: map[string][]int{},
		homes: map[int]map[string]bool{}, ownedBy: map[object.Ref][]int{}, served: map[object.Ref][]int{},
	}
	for i := range s.defs {
		s.byGroup[s.defs[i].group] = append(s.byGroup[s.defs[i].group], i)
		domain := operatorDomain(s.defs[i].group)
		s.byDomain[domain] = append(s.byDomain[domain], i)
		s.everyDef = append(s.everyDef, i)
	}
	s.signs = make([]map[int]*operatorSigns, len(s.defs))
	if len(s.defs) == 0 {
		return s
	}
	for _, wl := range w.workloads {
		if wl.IsLongRunning() {
			s.workload(wl)
		}
	}
	s.rights()
	s.webhooks()
	s.marks()
	s.compare()
	return s
}

func (s *operatorSearch) workload(wl *Workload) {
	i := len(s.workloads)
	o := operatorWorkload{Workload: wl, labels: s.w.labelsOf(wl.Ref), stem: operatorStem(wl.Ref.Name)}
	o.accounts = wl.Accounts()
	for _, image := range wl.Images() {
		if !slices.Contains(o.images, image.Repository) {
			o.images = append(o.images, image.Repository)
		}
	}
	if top := s.w.Top(wl.Ref); top != wl.Ref && s.custom(top.GroupKind()) {
		if wl.Ref.Kind == "Pod" {
			// What an operator runs may write of its state in its own custom resource.
			return
		}
		o.top = top
	}
	s.number[wl.Ref] = i
	for key, value := range o.labels {
		s.labelled[key+"="+value] = append(s.labelled[key+"="+value], i)
	}
	if name, ns := s.w.releaseOf(wl.Ref); name != "" {
		s.released[ns+"/"+name] = append(s.released[ns+"/"+name], i)
	}
	for _, owner := range s.w.owners(wl.Ref) {
		s.ownedBy[owner] = append(s.ownedBy[owner], i)
	}
	index := func(in map[string][]int, words ...string) {
		for _, word := range words {
			word = operatorPlain(word)
			if at := in[word]; word != "" && (len(at) == 0 || at[len(at)-1] != i) {
				in[word] = append(at, i)
			}
		}
	}
	index(s.named, wl.Ref.Name, o.stem, o.labels["app.kubernetes.io/name"], o.labels["app.kubernetes.io/part-of"])
	for _, image := range o.images {
		for _, part := range operatorParts(image) {
			index(s.imaged, part, operatorStem(part))
		}
	}
	s.workloads = append(s.workloads, o)
}

func (s *operatorSearch) custom(gk schema.GroupKind) bool {
	r, ok := s.w.Kinds.Kind(gk)
	return ok && r.Custom
}

// sign puts down a sign, or several, and where it was seen first.
func (s *operatorSearch) sign(def, wl int, sign operatorSign, where string) {
	if s.signs[def] == nil {
		s.signs[def] = map[int]*operatorSigns{}
	}
	have := s.signs[def][wl]
	if have == nil {
		have = &operatorSigns{where: map[operatorSign]string{}}
		s.signs[def][wl] = have
	}
	for bit := signStatus; bit <= signAlone; bit <<= 1 {
		if !sign.has(bit) {
			continue
		}
		// Maps are walked on the way here: the least is the one that is told.
		if said, ok := have.where[bit]; !ok || where < said {
			have.where[bit] = where
		}
	}
	have.has |= sign
}

func (s *operatorSearch) signsOf(def, wl int) operatorSign {
	if have := s.signs[def][wl]; have != nil {
		return have.has
	}
	return 0
}

// compare finds the signs that come of others: who writes the status of a sibling, and who
// may do something alone. Each step needs the one before of all definitions.
func (s *operatorSearch) compare() {
	for i, signs := range s.signs {
		s.atHomeIn(operatorDomain(s.defs[i].group), signs)
	}
	for i, signs := range s.signs {
		s.siblings(i, signs)
	}
	for i, signs := range s.signs {
		s.signSoleWriters(i, signs)
	}
}

// atHomeIn notes the domains in which workloads write the status of kinds.
func (s *operatorSearch) atHomeIn(domain string, signs map[int]*operatorSigns) {
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

// siblings: who writes the status of another kind of the domain may run this one too.
func (s *operatorSearch) siblings(def int, signs map[int]*operatorSigns) {
	for wl, have := range signs {
		if s.workloads[wl].any {
			have.has |= signAny
		}
		if have.has.has(signStatus) || !have.has.has(signRead|signWrite) {
			continue
		}
		of := s.byDomain[operatorDomain(s.defs[def].group)]
		if at := slices.IndexFunc(of, func(sibling int) bool { return s.signsOf(sibling, wl).has(signStatus) }); at >= 0 {
			s.sign(def, wl, signSibling, s.defs[of[at]].plural)
		}
	}
}

// signSoleWriters signs the only workloads that may do something with the objects of a definition.
func (s *operatorSearch) signSoleWriters(def int, signs map[int]*operatorSigns) {
	writers := s.holders(signs, signStatus|signGroup|signFinalizers|signWrite)
	if len(writers) == 0 {
		writers = s.holders(signs, signRead)
	}
	// Whoever is asked before they are written has a part in them as well.
	all := append(s.holders(signs, signWebhook), writers...)
	for _, wl := range writers {
		if s.alike(all, wl) && s.atHome(wl, operatorDomain(s.defs[def].group)) {
			s.sign(def, wl, signAlone, "")
		}
	}
}

func (s *operatorSearch) holders(signs map[int]*operatorSigns, of operatorSign) []int {
	var out []int
	for wl, have := range signs {
		if have.has.has(of) {
			out = append(out, wl)
		}
	}
	slices.Sort(out)
	return out
}

// atHome says that a workload writes the status of kinds of this domain, or of none: who
// runs others only uses this one. That cert-manager may write the finalizers of an HTTPRoute
// does not make it run these.
func (s *operatorSearch) atHome(wl int, domain string) bool {
	return len(s.homes[wl]) == 0 || s.homes[wl][domain]
}

// alike says that some workloads are all of the same operator as one.
func (s *operatorSearch) alike(all []int, one int) bool {
	return !slices.ContainsFunc(all, func(other int) bool { return other != one && !s.kin(one, other) && !s.twins(one, other) })
}
