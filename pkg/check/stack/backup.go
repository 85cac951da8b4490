package stack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

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
		{
			ID: "stack-backup-age", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.CoreOSGuideline(7)},
			Title: "The last good backup is recent",
			Why:   "What changed since the last good backup is lost in a disaster. A backup that fails every night is found out on the day of the restore.",
			Fix:   "Run kubectl sysop backup run, and see why the last one failed: kubectl sysop backup list. spec.monitoring.thresholds.backupHours of a System sets the age.",
			Stack: backupAge,
		},
	}
}

// backupAge looks for the last good backups of the objects of the stack, among those that kubectl sysop
// made. An object without any is the matter of the rule stack-backup.
func backupAge(s *check.Stack, r *check.Result) {
	last, found := check.LastCopy(s.World.Copies, s.Members(), s.World.Now)
	if !found {
		return
	}
	most, age := check.DefaultBackupAge, s.World.Now.Sub(last.Time)
	if sys := s.World.System; sys != nil {
		most = cmp.Or(sys.BackupAge, most)
	}
	switch {
	case last.Incomplete != "":
		r.AddFinding(check.Finding{Object: last.Record, Related: last.Saved, Message: last.Problem()})
	case last.Unread != "":
		r.AddUnknown(last.Record, last.Problem())
	case age > most:
		r.AddFinding(check.Finding{
			Object: last.Record, Related: last.Saved,
			Message: fmt.Sprintf("the last good backup is %s old, and %s is the limit", duration.HumanDuration(age), duration.HumanDuration(most)),
		})
	default:
		r.Pass(last.Record)
	}
}

// backupSearch looks for signs that the data of a stack is backed up.
type backupSearch struct {
	s *check.Stack
	// schedules are all backups and schedules that were read.
	schedules []object.Ref
	// maybe are objects that may be such a sign, where that is unknown.
	maybe []string
}

func backup(s *check.Stack, r *check.Result) {
	type dataGroup struct {
		c      *check.ReplicaGroup
		claims []object.Ref
	}
	var groups []dataGroup
	for _, c := range s.World.ReplicaGroups(s.ManagedWorkloads()) {
		g := dataGroup{c: c}
		for _, wl := range c.Workloads {
			for _, claim := range s.World.Claims(wl) {
				if wl.IsLongRunning() {
					g.claims = append(g.claims, check.ClaimRef(claim))
				}
			}
		}
		if len(g.claims) > 0 {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return
	}
	search := &backupSearch{s: s, schedules: s.World.Facts.Backups()}
	for _, g := range groups {
		switch sign := search.hasBackup(g.c, g.claims); {
		case sign:
			r.Pass(g.c.Ref)
		case len(search.maybe) > 0:
			r.AddUnknown(g.c.Ref, "it is unknown whether "+object.ShortList(search.maybe)+" backs up its data")
		case len(search.unread(g.claims[0].Namespace)) > 0:
			r.AddUnread(g.c.Ref, object.ShortList(search.unread(g.claims[0].Namespace))+", which may set up backups,")
		default:
			r.AddFinding(check.Finding{
				Object: g.c.Ref, Field: g.c.Workloads[0].SpecPath() + ".volumes", Related: g.claims,
				Message: fmt.Sprintf("stores data in %s, and no backup was found: no backup or snapshot names it, no schedule covers %s, and no CronJob or side-car for backups refers to it",
					object.Count(len(g.claims), "claim"), g.claims[0].Namespace),
			})
		}
	}
}

// backedUp reports whether a backup that is not paused has an edge to an object. A shared
// boundary, which any backup may use, is no sign.
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
		if settings, ok := w.Facts.Backup(from); ok && !settings.Paused {
			return true
		}
	}
	return false
}

// hasBackup looks for signs that the claims of a replica group are backed up.
func (b *backupSearch) hasBackup(c *check.ReplicaGroup, claims []object.Ref) bool {
	w := b.s.World
	b.maybe = nil
	data := slices.Concat(claims, check.PodRefs(c.Pods), w.GroupOwners(c))
	if slices.ContainsFunc(data, func(ref object.Ref) bool { return backedUp(w, ref) || asksForBackups(w, ref) }) {
		return true
	}
	for _, wl := range c.Workloads {
		for _, x := range wl.Containers() {
			if check.NamesBackup(x.Name) || check.NamesBackup(check.ParseImage(x.Image).Repository) {
				return true
			}
		}
	}
	return b.scheduled(claims[0].Namespace) || b.cronJobs(claims[0].Namespace, c, data)
}

// asksForBackups reports whether the fields of a custom resource request backups.
func asksForBackups(w *check.ClusterState, ref object.Ref) bool {
	settings, ok := w.Facts.Backup(ref)
	return ok && len(settings.Fields) > 0
}

// scheduled looks for backups of whole namespaces: Velero's, which name them, and others in
// the namespace that name nothing known.
func (b *backupSearch) scheduled(namespace string) bool {
	w := b.s.World
	for _, ref := range b.schedules {
		settings, _ := w.Facts.Backup(ref)
		switch {
		case settings.Paused || settings.NoVolumes:
		case ref.Group == "velero.io":
			if !settings.Unread && !covers(&settings, namespace) {
				continue
			}
			if !settings.Unread && !settings.Narrow {
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

// covers reports whether a backup takes the objects of a namespace: those that it includes, or
// all where it names none, without those that it excludes.
func covers(s *check.BackupSettings, namespace string) bool {
	names := func(list []string) bool { return slices.Contains(list, namespace) || slices.Contains(list, "*") }
	return (len(s.Included) == 0 || names(s.Included)) && !names(s.Excluded)
}

// backupNames reports whether a backup object serves or needs another existing object, which
// is then its target.
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

// keptByOthers reports whether a long-running workload mounts a claim: otherwise the claim may
// hold the backups.
func keptByOthers(w *check.ClusterState, claim graph.ID) bool {
	for e := range w.Graph.In(claim) {
		if wl, ok := w.Workload(w.Graph.Ref(e.From)); ok && wl.IsLongRunning() {
			return true
		}
	}
	return false
}

// isSharedInBackup reports whether many backups share an object, so that a relation to it is
// no sign.
func isSharedInBackup(r object.Ref) bool {
	if r.Group == "" && (r.Kind == "Secret" || r.Kind == "ConfigMap" || r.Kind == "ServiceAccount") {
		return true
	}
	return graph.IsBoundary(r) || strings.HasSuffix(r.Kind, "Location") || strings.HasSuffix(r.Kind, "Storage") || strings.HasSuffix(r.Kind, "Repository")
}

// cronJobs looks for CronJobs of the namespace with the name of a backup. One that mounts or
// calls the data is a sign. One that names another object backs up that; the target of one
// that names nothing is unknown.
func (b *backupSearch) cronJobs(namespace string, c *check.ReplicaGroup, data []object.Ref) bool {
	w := b.s.World
	for _, p := range c.Pods {
		data = append(data, w.Serving(check.PodRef(p), check.ServiceKind)...)
	}
	for _, wl := range c.Workloads {
		data = append(data, wl.Ref)
	}
	for _, job := range check.All[*batchv1.CronJob](w.Facts, "batch", "CronJob") {
		if job.Namespace != namespace || job.Spec.Suspend != nil && *job.Spec.Suspend {
			continue
		}
		spec := &job.Spec.JobTemplate.Spec.Template.Spec
		if !check.NamesBackup(job.Name) && !slices.ContainsFunc(spec.Containers, backupContainer) {
			continue
		}
		ref := object.Ref{Group: "batch", Kind: "CronJob", Namespace: namespace, Name: job.Name}
		switch {
		case backupReaches(w, ref, data):
			return true
		case !backupNames(w, ref):
			b.maybe = append(b.maybe, ref.String())
		}
	}
	return false
}

// backupReaches reports whether an object needs or serves one of some others, or one of them
// owns it.
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
	if check.NamesBackup(c.Name) || check.NamesBackup(check.ParseImage(c.Image).Repository) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(c.Command, c.Args), check.NamesBackup)
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
		place := namespace
		if !k.Namespaced || gk.Group == "velero.io" || check.IsClusterBackup(object.Ref{Group: gk.Group, Kind: gk.Kind}) {
			place = "" // These are in the namespace of the backup tool.
		}
		if !w.Read(gk, place) {
			out = append(out, k.String())
		}
	}
	if !w.Read(schema.GroupKind{Group: "batch", Kind: "CronJob"}, namespace) {
		out = append(out, "cronjobs.batch")
	}
	slices.Sort(out)
	return out
}
