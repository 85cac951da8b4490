package system

// Label is on every object that is stored for a System; its value is the System's name.
const Label = "sysop.dev/system"

// keptPrefix begins the name of every object that is stored for a System.
const keptPrefix = "sysop-"

// ParentName is what the ConfigMap is called that keeps the set of an adopted System, and
// its manifest.
func ParentName(system string) string { return keptPrefix + system }

// JournalName is what the ConfigMap with the journal of regulation is called.
func JournalName(system string) string { return keptPrefix + system + "-journal" }

// LockName is what the Lease of who acts on the apps is called.
func LockName(system string) string { return keptPrefix + system }

// WatchName is the name of the objects that regulate a System from within a cluster: the Lease,
// the Deployment and its RBAC objects.
func WatchName(system string) string { return keptPrefix + system + "-watch" }

// BackupName is the name of the objects that back up a System, or something else, by a schedule.
func BackupName(source string) string { return keptPrefix + source + "-backup" }
