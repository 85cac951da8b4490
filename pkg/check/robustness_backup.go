package check

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func robustBackupRules() []Rule {
	return []Rule{
		{
			ID: "stack-backup", Category: Robustness, Severity: Warning, Guidelines: []Guideline{coreos(7)},
			Title: "data that is kept is backed up",
			Why:   "Replicas do not help against a wrong deletion or a bad release: without a backup the data is gone.",
			Fix:   "Order backups: by the operator's own resource, Velero, VolumeSnapshots or a CronJob. Where the storage is backed up outside the cluster, or the data can be made anew, waive the rule.",
			Stack: robustBackup,
		},
	}
}

// backupSearch looks for signs that the data of a stack is backed up.
type backupSearch struct {
	s *Stack
	// maybe are objects that may be such a sign, and of which that is not known.
	maybe []string
}

func robustBackup(s *Stack, r *Result) {
	type keeper struct {
		c      *crew
		claims []object.Ref
	}
	var keepers []keeper
	for _, c := range s.World.robustCrews(robustWorkloads(s)) {
		k := keeper{c: c}
		for _, wl := range c.Workloads {
			for _, claim := range s.World.robustClaims(wl) {
				if wl.Lasting() {
					k.claims = append(k.claims, robustClaimRef(claim))
				}
			}
		}
		if len(k.claims) > 0 {
			keepers = append(keepers, k)
		}
	}
	if len(keepers) == 0 {
		return
	}
	search := &backupSearch{s: s}
	whole := search.ofStack()
	for _, k := range keepers {
		switch sign := search.of(k.c, k.claims); {
		case sign || whole:
			r.Fine(k.c.Ref)
		case len(search.maybe) > 0:
			r.Unknown(k.c.Ref, "it is not known whether "+robustList(search.maybe)+" backs up its data")
		case len(search.unread(k.claims[0].Namespace)) > 0:
			robustOpen(r, k.c.Ref, robustList(search.unread(k.claims[0].Namespace))+", which may order backups,")
		default:
			r.Found(Finding{
				Object: k.c.Ref, Field: crewTemplatePath(k.c.Workloads[0]) + ".volumes", Related: k.claims,
				Message: fmt.Sprintf("keeps data in %s, and there is no sign of a backup: no backup or snapshot names it, no schedule covers %s, and no CronJob or side-car is called so",
					robustCount(len(k.claims), "claim"), k.claims[0].Namespace),
			})
		}
	}
}

// ofStack looks for what holds for all of the stack: a member that is a backup, or whose
// spec asks for backups, or that a backup serves or needs.
func (b *backupSearch) ofStack() bool {
	w := b.s.World
	for _, ref := range b.s.Members() {
		if said, ok := w.Facts.robust.said(w.Facts, ref); ok && (said.Is && !said.Paused || len(said.Fields) > 0) {
			return true
		}
		if w.backedUp(ref) {
			return true
		}
	}
	return false
}

// said returns what a custom resource says of backups.
func (f *robustFacts) said(c *Collector, ref object.Ref) (backupSaid, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said, ok := f.backups[ref]
	return said, ok
}

// backedUp says whether a backup that is not paused has an edge to an object: of the
// cluster's shared ground, where everybody's backups meet, that says nothing.
func (w *World) backedUp(ref object.Ref) bool {
	id, ok := w.Graph.Find(ref)
	if !ok || graph.IsBoundary(ref) || ref.Kind == "Secret" || ref.Kind == "ConfigMap" || ref.Kind == "ServiceAccount" {
		return false
	}
	for e := range w.Graph.In(id) {
		from := w.Graph.Ref(e.From)
		if !isBackup(from) || w.Graph.State(e.From) != graph.Present {
			continue
		}
		if said, ok := w.Facts.robust.said(w.Facts, from); ok && !said.Paused {
			return true
		}
	}
	return false
}

// of looks for signs that the claims of a crew are backed up.
func (b *backupSearch) of(c *crew, claims []object.Ref) bool {
	w := b.s.World
	b.maybe = nil
	for _, ref := range slices.Concat(claims, robustPodRefs(c.Pods)) {
		if w.backedUp(ref) {
			return true
		}
	}
	for _, wl := range c.Workloads {
		for _, x := range wl.crewContainers() {
			if backupWord(x.Name) || backupWord(crewImage(x.Image)) {
				return true
			}
		}
	}
	return b.scheduled(claims[0].Namespace) || b.cronJobs(claims[0].Namespace, claims)
}

// scheduled looks for backups of whole namespaces: Velero's, which name them, and others
// that lie in the namespace and name nothing that is known.
func (b *backupSearch) scheduled(namespace string) bool {
	w := b.s.World
	for _, ref := range w.Facts.backupOrders() {
		said, _ := w.Facts.robust.said(w.Facts, ref)
		switch {
		case said.Paused || said.NoVolumes:
		case ref.Group == "velero.io":
			if !said.Unread && !said.covers(namespace) {
				continue
			}
			if !said.Unread && !said.Narrow {
				return true
			}
			b.maybe = append(b.maybe, ref.String())
		case isVagueBackup(ref):
			b.maybe = append(b.maybe, ref.String())
		case ref.Namespace != namespace:
		case strings.HasPrefix(ref.Group, "k8up."):
			return true // It takes all claims of its namespace.
		case !w.namesAnything(ref):
			b.maybe = append(b.maybe, ref.String())
		}
	}
	return false
}

// backupOrders returns the backups and schedules that are known, in order.
func (c *Collector) backupOrders() []object.Ref {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []object.Ref
	for ref, said := range c.robust.backups {
		if said.Is {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, object.Compare)
	return out
}

// covers says whether a backup takes the objects of a namespace: those that it includes,
// or all where it names none, but for those that it excludes.
func (s *backupSaid) covers(namespace string) bool {
	names := func(list []string) bool { return slices.Contains(list, namespace) || slices.Contains(list, "*") }
	return (len(s.Included) == 0 || names(s.Included)) && !names(s.Excluded)
}

// namesAnything says whether an object is known to serve or need another one that is
// there: then that is what it is for.
func (w *World) namesAnything(ref object.Ref) bool {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return false
	}
	for e := range w.Graph.Out(id) {
		to := w.Graph.Ref(e.To)
		if w.Graph.State(e.To) == graph.Present && !graph.IsBoundary(to) && to.Kind != "Secret" && to.Kind != "ConfigMap" && to.Kind != "ServiceAccount" {
			return true
		}
	}
	return false
}

// cronJobs looks for CronJobs of the namespace that are called backups. One that reaches
// the stack is a sign; of another it is not known what it is for.
func (b *backupSearch) cronJobs(namespace string, claims []object.Ref) bool {
	w := b.s.World
	for _, job := range All[*batchv1.CronJob](w.Facts, "batch", "CronJob") {
		if job.Namespace != namespace || job.Spec.Suspend != nil && *job.Spec.Suspend {
			continue
		}
		spec := &job.Spec.JobTemplate.Spec.Template.Spec
		if !backupWord(job.Name) && !slices.ContainsFunc(spec.Containers, backupContainer) {
			continue
		}
		ref := object.Ref{Group: "batch", Kind: "CronJob", Namespace: namespace, Name: job.Name}
		mounts := robustClaimsOf(spec, namespace, "")
		if slices.ContainsFunc(mounts, func(m object.Ref) bool { return slices.Contains(claims, m) }) || b.reaches(ref) {
			return true
		}
		b.maybe = append(b.maybe, ref.String())
	}
	return false
}

// reaches says whether an object is in the stack, or needs a member that is not data.
func (b *backupSearch) reaches(ref object.Ref) bool {
	id, ok := b.s.World.Graph.Find(ref)
	if !ok {
		return false
	}
	if b.s.Stack.Has(id) {
		return true
	}
	for e := range b.s.World.Graph.Out(id) {
		to := b.s.World.Graph.Ref(e.To)
		if b.s.Stack.Has(e.To) && !b.s.Stack.Boundary(e.To) && to.Kind != "ConfigMap" && to.Kind != "ServiceAccount" {
			return true
		}
	}
	return false
}

func backupContainer(c corev1.Container) bool {
	if backupWord(c.Name) || backupWord(crewImage(c.Image)) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(c.Command, c.Args), backupWord)
}

// backupWords are in the names of programs that make backups.
var backupWords = []string{"backup", "snapshot", "pg_dump", "pgdump", "mysqldump", "mongodump", "mariadb-dump", "xtrabackup", "restic", "wal-g", "barman", "pgbackrest", "medusa", "velero"}

func backupWord(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(backupWords, func(w string) bool { return strings.Contains(text, w) })
}

// unread returns the kinds that may order backups and that were not read.
func (b *backupSearch) unread(namespace string) []string {
	w := b.s.World
	var out []string
	for _, k := range w.Kinds.All() {
		gk := k.GroupKind()
		if !k.Custom || !isBackup(object.Ref{Group: gk.Group, Kind: gk.Kind}) {
			continue
		}
		where := namespace
		if !k.Namespaced || gk.Group == "velero.io" || isVagueBackup(object.Ref{Group: gk.Group, Kind: gk.Kind}) {
			where = "" // These are in the namespace of who makes the backups.
		}
		if !w.Read(gk, where) {
			out = append(out, k.String())
		}
	}
	if !w.Read(robustCronJobKind, namespace) {
		out = append(out, "cronjobs.batch")
	}
	slices.Sort(out)
	return out
}
