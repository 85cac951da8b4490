package stack

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

func backupRules() []check.Rule {
	return []check.Rule{
		{
			ID: "stack-backup", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.CoreOSGuideline(7)},
			Title: "Stored data is backed up",
			Why:   "Replicas do not protect from a wrong deletion or a bad release: without a backup the data is lost.",
			Fix:   "Set up backups: by the operator's own resource, Velero, VolumeSnapshots or a CronJob. Where the storage is backed up outside the cluster, or the data can be recreated, waive the rule.",
			Stack: backup,
		},
	}
}

// backupSearch looks for signs that the data of a stack is backed up.
type backupSearch struct {
	s *check.Stack
	// schedules are all backups and schedules that were read.
	schedules []object.Ref
	// maybe are objects that may be such a sign, and of which that is not known.
	maybe []string
}

func backup(s *check.Stack, r *check.Result) {
	type keeper struct {
		c      *check.ReplicaGroup
		claims []object.Ref
	}
	var keepers []keeper
	for _, c := range s.World.ReplicaGroups(s.ManagedWorkloads()) {
		k := keeper{c: c}
		for _, wl := range c.Workloads {
			for _, claim := range s.World.Claims(wl) {
				if wl.IsLongRunning() {
					k.claims = append(k.claims, check.ClaimRef(claim))
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
	search := &backupSearch{s: s, schedules: s.World.Facts.Backups()}
	for _, k := range keepers {
		switch sign := search.hasBackup(k.c, k.claims); {
		case sign:
			r.Pass(k.c.Ref)
		case len(search.maybe) > 0:
			r.AddUnknown(k.c.Ref, "it is unknown whether "+object.ShortList(search.maybe)+" backs up its data")
		case len(search.unread(k.claims[0].Namespace)) > 0:
			r.AddUnread(k.c.Ref, object.ShortList(search.unread(k.claims[0].Namespace))+", which may set up backups,")
		default:
			r.AddFinding(check.Finding{
				Object: k.c.Ref, Field: k.c.Workloads[0].SpecPath() + ".volumes", Related: k.claims,
				Message: fmt.Sprintf("stores data in %s, and no backup was found: no backup or snapshot names it, no schedule covers %s, and no CronJob or side-car for backups refers to it",
					object.Count(len(k.claims), "claim"), k.claims[0].Namespace),
			})
		}
	}
}

// backedUp says whether a backup that is not paused has an edge to an object: of the
// cluster's shared ground, where everybody's backups meet, that says nothing.
func backedUp(w *check.ClusterState, ref object.Ref) bool {
	id, ok := w.Graph.Find(ref)
	if !ok || isSharedInBackup(ref) {
		return false
	}
	for e := range w.Graph.In(id) {
		from := w.Graph.Ref(e.From)
		if !check.IsBackup(from) || w.Graph.State(e.From) != graph.Present {
			continue
		}
		if said, ok := w.Facts.Backup(from); ok && !said.Paused {
			return true
		}
	}
	return false
}

// hasBackup looks for signs that the claims of a replica group are backed up.
func (b *backupSearch) hasBackup(c *check.ReplicaGroup, claims []object.Ref) bool {
	w := b.s.World
	b.maybe = nil
	kept := slices.Concat(claims, check.PodRefs(c.Pods), w.GroupOwners(c))
	if slices.ContainsFunc(kept, func(ref object.Ref) bool { return backedUp(w, ref) || asksForBackups(w, ref) }) {
		return true
	}
	for _, wl := range c.Workloads {
		for _, x := range wl.Containers() {
			if backupWord(x.Name) || backupWord(check.ParseImage(x.Image).Repository) {
				return true
			}
		}
	}
	return b.scheduled(claims[0].Namespace) || b.cronJobs(claims[0].Namespace, c, kept)
}

// asksForBackups says whether the fields of a custom resource ask for backups.
func asksForBackups(w *check.ClusterState, ref object.Ref) bool {
	said, ok := w.Facts.Backup(ref)
	return ok && len(said.Fields) > 0
}

// scheduled looks for backups of whole namespaces: Velero's, which name them, and others
// that lie in the namespace and name nothing that is known.
func (b *backupSearch) scheduled(namespace string) bool {
	w := b.s.World
	for _, ref := range b.schedules {
		said, _ := w.Facts.Backup(ref)
		switch {
		case said.Paused || said.NoVolumes:
		case ref.Group == "velero.io":
			if !said.Unread && !covers(&said, namespace) {
				continue
			}
			if !said.Unread && !said.Narrow {
				return true
			}
			b.maybe = append(b.maybe, ref.String())
		case check.IsClusterBackup(ref):
			b.maybe = append(b.maybe, ref.String())
		case ref.Namespace != namespace:
		case strings.HasPrefix(ref.Group, "k8up."):
			return true // It takes all claims of its namespace.
		case !backupNames(w, ref):
			b.maybe = append(b.maybe, ref.String())
		}
	}
	return false
}

// covers says whether a backup takes the objects of a namespace: those that it includes,
// or all where it names none, but for those that it excludes.
func covers(s *check.BackupSettings, namespace string) bool {
	names := func(list []string) bool { return slices.Contains(list, namespace) || slices.Contains(list, "*") }
	return (len(s.Included) == 0 || names(s.Included)) && !names(s.Excluded)
}

// backupNames says whether an object is known to serve or need another one that is
// there: then that is what it is for.
func backupNames(w *check.ClusterState, ref object.Ref) bool {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return false
	}
	for e := range w.Graph.Out(id) {
		to := w.Graph.Ref(e.To)
		if e.Relation != relation.Owns && w.Graph.State(e.To) == graph.Present && !isSharedInBackup(to) && (to.Kind != "PersistentVolumeClaim" || keptByOthers(w, e.To)) {
			return true
		}
	}
	return false
}

// keptByOthers says whether something that lasts mounts a claim: else it may be where
// backups are put.
func keptByOthers(w *check.ClusterState, claim graph.ID) bool {
	for e := range w.Graph.In(claim) {
		if wl, ok := w.Workload(w.Graph.Ref(e.From)); ok && wl.IsLongRunning() {
			return true
		}
	}
	return false
}

// isSharedInBackup says that an object is shared by many, so that a backup of it shows
// nothing.
func isSharedInBackup(r object.Ref) bool {
	if r.Group == "" && (r.Kind == "Secret" || r.Kind == "ConfigMap" || r.Kind == "ServiceAccount") {
		return true
	}
	return graph.IsBoundary(r) || strings.HasSuffix(r.Kind, "Location") || strings.HasSuffix(r.Kind, "Storage") || strings.HasSuffix(r.Kind, "Repository")
}

// cronJobs looks for CronJobs of the namespace that are called backups. One that mounts
// or asks what is kept is a sign. One that names something else is for that; of one that
// names nothing it is not known what it is for.
func (b *backupSearch) cronJobs(namespace string, c *check.ReplicaGroup, kept []object.Ref) bool {
	w := b.s.World
	for _, p := range c.Pods {
		kept = append(kept, w.Serving(check.PodRef(p), check.ServiceKind)...)
	}
	for _, wl := range c.Workloads {
		kept = append(kept, wl.Ref)
	}
	for _, job := range check.All[*batchv1.CronJob](w.Facts, "batch", "CronJob") {
		if job.Namespace != namespace || job.Spec.Suspend != nil && *job.Spec.Suspend {
			continue
		}
		spec := &job.Spec.JobTemplate.Spec.Template.Spec
		if !backupWord(job.Name) && !slices.ContainsFunc(spec.Containers, backupContainer) {
			continue
		}
		ref := object.Ref{Group: "batch", Kind: "CronJob", Namespace: namespace, Name: job.Name}
		switch {
		case backupReaches(w, ref, kept):
			return true
		case !backupNames(w, ref):
			b.maybe = append(b.maybe, ref.String())
		}
	}
	return false
}

// backupReaches says whether an object needs or serves some others, or is owned by one of them.
func backupReaches(w *check.ClusterState, from object.Ref, these []object.Ref) bool {
	id, ok := w.Graph.Find(from)
	if !ok {
		return false
	}
	if top := w.Top(from); top != from && slices.Contains(these, top) {
		return true
	}
	for e := range w.Graph.Out(id) {
		if e.Relation != relation.Owns && slices.Contains(these, w.Graph.Ref(e.To)) {
			return true
		}
	}
	return false
}

func backupContainer(c corev1.Container) bool {
	if backupWord(c.Name) || backupWord(check.ParseImage(c.Image).Repository) {
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
		if !k.Custom || !check.IsBackup(object.Ref{Group: gk.Group, Kind: gk.Kind}) {
			continue
		}
		where := namespace
		if !k.Namespaced || gk.Group == "velero.io" || check.IsClusterBackup(object.Ref{Group: gk.Group, Kind: gk.Kind}) {
			where = "" // These are in the namespace of who makes the backups.
		}
		if !w.Read(gk, where) {
			out = append(out, k.String())
		}
	}
	if !w.Read(schema.GroupKind{Group: "batch", Kind: "CronJob"}, namespace) {
		out = append(out, "cronjobs.batch")
	}
	slices.Sort(out)
	return out
}
