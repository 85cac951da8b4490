package check

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// backupSaid is what a custom resource says of backups.
type backupSaid struct {
	// Is says that it is a backup or a schedule of backups; else it only has fields for them.
	Is bool
	// Fields are the fields that are about backups and that are filled in, in order:
	// spec.backup, spec.backupSchedule.
	Fields []string
	// Paused says that it makes no backups today.
	Paused bool
	// Included and Excluded are the namespaces that it names; Narrow says that it takes
	// some objects of these and not others, Volumes that it leaves volumes out.
	Included, Excluded []string
	Narrow, NoVolumes  bool
	// Unread says that only its metadata was read.
	Unread bool
}

// WantedEverywhere returns the kinds of which objects in any namespace may say something of
// a stack in one: those that order backups, as Velero's schedules do, the network policies of
// CNIs and meshes, what collects metrics, and what binds roles.
func WantedEverywhere(kinds *object.Kinds) []schema.GroupKind {
	out := []schema.GroupKind{clusterRoleKind, clusterRoleBindingKind, roleKind, roleBindingKind}
	for _, k := range kinds.All() {
		if k.Custom && (policyLike(k) || robustCollects(k.Kind)) {
			out = append(out, k.GroupKind())
			continue
		}
		if r := (object.Ref{Group: k.Group, Kind: k.Kind}); k.Custom && isBackup(r) && (k.Group == "velero.io" || isVagueBackup(r)) {
			out = append(out, k.GroupKind())
		}
	}
	return out
}

// noteBackups keeps what an object says of backups; it is called under the lock.
func (c *Collector) noteBackups(o object.Object) {
	delete(c.backups, o.Ref)
	fields := o.Fields()
	is := isBackup(o.Ref)
	if fields == nil {
		if is {
			c.backups[o.Ref] = backupSaid{Is: true, Unread: true}
		}
		return
	}
	spec, _ := fields["spec"].(map[string]any)
	if is {
		c.backups[o.Ref] = backupOrder(spec)
		return
	}
	if said := backupFields(spec); len(said) > 0 {
		c.backups[o.Ref] = backupSaid{Fields: said}
	}
}

// isBackup tells the kinds that are backups or order them, by their names: Backup,
// ScheduledBackup, BackupConfiguration, VolumeSnapshot, Velero's Schedule; and not what
// restores, or where they are kept.
func isBackup(r object.Ref) bool {
	kind := strings.ToLower(r.Kind)
	for _, not := range []string{"restore", "class", "content", "location", "storage", "repository", "request", "delete", "download", "blueprint", "verification", "export"} {
		if strings.Contains(kind, not) {
			return false
		}
	}
	if !strings.Contains(r.Group, ".") || strings.HasSuffix(r.Group, ".k8s.io") && r.Group != "snapshot.storage.k8s.io" && r.Group != "groupsnapshot.storage.k8s.io" {
		return false
	}
	switch {
	case strings.Contains(kind, "backup"), strings.HasPrefix(kind, "volumesnapshot"), kind == "volumegroupsnapshot", kind == "snapshotgroup", kind == "snapshotschedule", isVagueBackup(r):
		return true
	case kind == "schedule":
		return r.Group == "velero.io" || strings.HasPrefix(r.Group, "k8up.") || strings.HasPrefix(r.Group, "backup.")
	case kind == "replicationsource":
		return strings.HasPrefix(r.Group, "volsync.")
	}
	return false
}

// isVagueBackup tells the kinds that order backups of anything in the cluster, in ways
// that are not read here: Longhorn's jobs, which volumes join by their labels, and the
// policies of Kasten.
func isVagueBackup(r object.Ref) bool {
	return r.Kind == "RecurringJob" && r.Group == "longhorn.io" || r.Kind == "Policy" && r.Group == "config.kio.kasten.io"
}

// backupOrder reads what a backup, or a schedule of backups, covers. Velero writes it in
// spec, and of a schedule in spec.template; others name their target, which is an edge.
func backupOrder(spec map[string]any) backupSaid {
	b := backupSaid{Is: true}
	b.Paused, _ = spec["paused"].(bool)
	if suspended, _ := spec["suspend"].(bool); suspended {
		b.Paused = true
	}
	in := spec
	if t, ok := spec["template"].(map[string]any); ok {
		in = t
	}
	b.Included, b.Excluded = backupTexts(in["includedNamespaces"]), backupTexts(in["excludedNamespaces"])
	_, one := in["labelSelector"].(map[string]any)
	_, several := in["orLabelSelectors"].([]any)
	b.Narrow = one || several
	if kinds := backupTexts(in["includedResources"]); len(kinds) > 0 && !slices.ContainsFunc(kinds, backupVolumes) || slices.ContainsFunc(backupTexts(in["excludedResources"]), backupVolumes) {
		b.NoVolumes = true
	}
	snapshots, said := in["snapshotVolumes"].(bool)
	files, _ := in["defaultVolumesToFsBackup"].(bool)
	if said && !snapshots && !files {
		b.NoVolumes = true
	}
	return b
}

func backupVolumes(resource string) bool {
	switch strings.ToLower(resource) {
	case "*", "persistentvolumeclaims", "persistentvolumeclaim", "pvc", "persistentvolumes", "persistentvolume", "pv":
		return true
	}
	return false
}

func backupTexts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, strings.Clone(s))
		}
	}
	return out
}

// backupFields returns the fields of a spec, and of the maps in it, that are about
// backups and that ask for some.
func backupFields(spec map[string]any) []string {
	var out []string
	for key, v := range spec {
		if backupField(key) {
			if backupAsks(v) {
				out = append(out, "spec."+strings.Clone(key))
			}
			continue
		}
		inner, _ := v.(map[string]any)
		for k, x := range inner {
			if backupField(k) && backupAsks(x) {
				out = append(out, strings.Clone("spec."+key+"."+k))
			}
		}
	}
	slices.Sort(out)
	return out
}

func backupField(key string) bool {
	key = strings.ToLower(key)
	return strings.Contains(key, "backup") && !strings.Contains(key, "restore")
}

// backupAsks says whether a value asks for something: a map that is not switched off and
// that says more than how it would be run, a list with something in it, a text, true.
func backupAsks(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		if on, ok := v["enabled"].(bool); ok && !on {
			return false
		}
		for k, x := range v {
			switch k {
			case "image", "imagePullPolicy", "imagePullSecrets", "resources", "serviceAccountName", "target", "retentionPolicy", "enabled":
			default:
				if backupAsks(x) {
					return true
				}
			}
		}
	case nil:
		return false
	default:
		return true // A number.
	}
	return false
}
