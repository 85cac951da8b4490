package check

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Backup returns the backup settings of a custom resource.
func (c *Collector) Backup(ref object.Ref) (BackupSettings, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	settings, ok := c.backups[ref]
	return settings, ok
}

// Backups returns the known backups and schedules, in order.
func (c *Collector) Backups() []object.Ref {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []object.Ref
	for ref, settings := range c.backups {
		if settings.Is {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, object.Compare)
	return out
}

// BackupSettings are the backup settings of a custom resource.
type BackupSettings struct {
	// Is is set where the object itself is a backup or a schedule; otherwise it only has
	// fields for them.
	Is bool
	// Fields are the fields about backups that are set, in order: spec.backup,
	// spec.backupSchedule.
	Fields []string
	// Paused is set where it makes no backups today.
	Paused bool
	// Included and Excluded are the namespaces that it names. Narrow is set where it takes
	// only some objects of them, NoVolumes where it leaves volumes out.
	Included, Excluded []string
	Narrow, NoVolumes  bool
	// Unread is set where only its metadata was read.
	Unread bool
}

// noteBackups stores the backup settings of an object. The caller holds the lock.
func (c *Collector) noteBackups(o object.Object) {
	delete(c.backups, o.Ref)
	fields := o.Fields()
	isBackup := IsBackup(o.Ref)
	if fields == nil {
		if isBackup {
			c.backups[o.Ref] = BackupSettings{Is: true, Unread: true}
		}
		return
	}
	spec, _ := fields["spec"].(map[string]any)
	if isBackup {
		c.backups[o.Ref] = backupOrder(spec)
		return
	}
	if names := backupFields(spec); len(names) > 0 {
		c.backups[o.Ref] = BackupSettings{Fields: names}
	}
}

// backupOrder reads what a backup or a schedule covers. Velero writes it in spec, and in
// spec.template of a schedule; others name their target, which is an edge.
func backupOrder(spec map[string]any) BackupSettings {
	b := BackupSettings{Is: true}
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
	snapshots, isSet := in["snapshotVolumes"].(bool)
	files, _ := in["defaultVolumesToFsBackup"].(bool)
	if isSet && !snapshots && !files {
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

// backupFields returns the fields of a spec, and of the maps in it, that request backups.
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

// backupAsks reports whether a value requests backups: true, a text, a list that is not empty,
// or a map that is not switched off and that sets more than how backups run.
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

// DefaultBackupAge is how old the last good backup may be: a day, and the time that one takes.
const DefaultBackupAge = 26 * time.Hour

// Copy is a backup that kubectl sysop made: its record, and its parts.
type Copy struct {
	Record object.Ref
	Time   time.Time
	Parts  []CopiedPart
}

// CopiedPart is an object that a backup is to have a copy of: a Namespace is all of its claims.
type CopiedPart struct {
	Object object.Ref
	// Incomplete is why the copy cannot be restored; Unread why that is unknown. Both are empty for
	// a good one.
	Incomplete, Unread string
}

func (p CopiedPart) isGood() bool { return p.Incomplete == "" && p.Unread == "" }

// holds says whether a part has a copy of an object.
func (p CopiedPart) holds(ref object.Ref) bool {
	if p.Object.Kind == "Namespace" && p.Object.Group == "" {
		return ref.Kind == "PersistentVolumeClaim" && ref.Group == "" && ref.Namespace == p.Object.Name
	}
	return p.Object == ref
}

// LastBackup is the last good backup of some objects.
type LastBackup struct {
	Record object.Ref
	Time   time.Time
	// Saved are the objects that it is the last backup of.
	Saved []object.Ref
	// Incomplete is why Saved has no good backup, and Record is that of the last one; Unread is why
	// that is unknown.
	Incomplete, Unread string
}

// Problem says why there is no good backup, or why that is unknown; empty for a good one.
func (b LastBackup) Problem() string {
	var names []string
	for _, ref := range b.Saved {
		names = append(names, ref.String())
	}
	switch objects := object.ShortList(names); {
	case b.Incomplete != "":
		return "no backup of " + objects + " is good: in the last one, " + b.Incomplete
	case b.Unread != "":
		return "whether the last backup of " + objects + " is good is unknown: " + b.Unread
	}
	return ""
}

// maxClockSkew is how far the clock of a machine that made a backup may be ahead.
const maxClockSkew = 5 * time.Minute

// LastCopy returns the backup from which the last good copies of some objects can be restored, of
// which backups are known, the newest first: that of the object whose last good copy is the oldest.
// An object without a good copy comes before. False means that no backup is of them.
func LastCopy(all []Copy, members []object.Ref, now time.Time) (last LastBackup, found bool) {
	for _, ref := range members {
		one, known := lastOf(all, ref, now)
		switch {
		case !known:
			continue
		case found && one.compare(last) == 0:
			last.Saved = append(last.Saved, ref)
		case !found || one.compare(last) < 0:
			last, found = one, true
		}
	}
	return last, found
}

// compare orders the worse one first.
func (b LastBackup) compare(other LastBackup) int {
	rank := func(b LastBackup) int {
		switch {
		case b.Incomplete != "":
			return 0
		case b.Unread != "":
			return 1
		}
		return 2
	}
	return cmp.Or(rank(b)-rank(other), b.Time.Compare(other.Time), object.Compare(b.Record, other.Record), cmp.Compare(b.Incomplete+b.Unread, other.Incomplete+other.Unread))
}

// lastOf returns the newest good backup of an object; without one, the newest one.
func lastOf(all []Copy, ref object.Ref, now time.Time) (last LastBackup, found bool) {
	for _, c := range all {
		for _, p := range c.Parts {
			if !p.holds(ref) {
				continue
			}
			if c.Time.After(now.Add(maxClockSkew)) {
				p.Unread = cmp.Or(p.Unread, "its time "+c.Time.Format(time.RFC3339)+" is in the future")
			}
			if !found || p.isGood() {
				last, found = LastBackup{c.Record, c.Time, []object.Ref{ref}, p.Incomplete, p.Unread}, true
			}
			if p.isGood() {
				return last, true
			}
		}
	}
	return last, found
}

// backupWords occur in the names of backup programs.
var backupWords = []string{"backup", "snapshot", "pg_dump", "pgdump", "mysqldump", "mongodump", "mariadb-dump", "xtrabackup", "restic", "wal-g", "barman", "pgbackrest", "medusa", "velero"}

// NamesBackup reports whether a name or a command is that of a backup program.
func NamesBackup(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(backupWords, func(w string) bool { return strings.Contains(text, w) })
}
