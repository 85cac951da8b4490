package backup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// State is what a plan is computed from.
type State struct {
	Graph *graph.Graph
	// Members are the nodes of what is saved.
	Members []graph.ID
	// Whole are the complete claims, volumes, custom resources and classes that could be read.
	Whole map[object.Ref]map[string]any
	// Kinds are those that the cluster serves, and Gaps what could not be read.
	Kinds *object.Kinds
	Gaps  []object.Gap
	// Namespaces are those that were read, but for Gaps.
	Namespaces []string
}

// Compute plans how each part that holds state is saved. The plan has a name, a time and a
// consistency already.
func Compute(s State, plan *Plan) {
	c := &computer{State: s, plan: plan, stamp: plan.Time.UTC().Format(StampFormat), saved: map[graph.ID]*Part{}}
	members := slices.Clone(s.Members)
	slices.SortFunc(members, func(a, b graph.ID) int { return object.Compare(s.Graph.Ref(a), s.Graph.Ref(b)) })
	if plan.Consistency != Crash {
		for _, id := range members {
			c.byOperator(id)
		}
	}
	for _, id := range members {
		if ref := s.Graph.Ref(id); ref.GroupKind() == ClaimKind && s.Graph.WasRead(id) {
			c.claim(id, ref)
		}
	}
	if plan.Consistency == Crash {
		c.groupSnapshots()
	}
	c.noteDeletions()
	for _, gap := range s.Gaps {
		c.unsaved(object.Ref{Kind: gap.Resource, Namespace: gap.Namespace}, "it could not be read: "+gap.Message, "kubectl auth can-i list "+gap.Resource)
	}
	if c.total.Sign() > 0 {
		plan.Size = c.total.String()
	}
}

type computer struct {
	State
	plan  *Plan
	stamp string
	total resource.Quantity
	// saved are the custom resources whose operator saves them; with a nil part, why it does not
	// is in the notes of their claims.
	saved map[graph.ID]*Part
	// missing is the field that the owner of the claim at hand needs for a backup by its operator.
	missing string
	// stated says that the reason of the claim at hand tells why its operator does not save it.
	stated bool
}

func (c *computer) unsaved(ref object.Ref, reason, hint string) {
	c.plan.Unsaved = append(c.plan.Unsaved, Unsaved{ref, reason, hint})
}

// own notes the topmost owner of data, whose manifest belongs to the backup.
func (c *computer) own(ref object.Ref) {
	if !slices.Contains(c.plan.Owners, ref) {
		c.plan.Owners = append(c.plan.Owners, ref)
	}
}

// byOperator plans the backup of a custom resource by its operator.
func (c *computer) byOperator(id graph.ID) {
	ref := c.Graph.Ref(id)
	ways := catalog.Backups(ref.GroupKind())
	fields := c.Whole[ref]
	if len(ways) == 0 || fields == nil {
		return
	}
	c.saved[id] = nil
	var like map[string]any
	i := slices.IndexFunc(ways, func(b catalog.Backup) bool {
		like = c.like(b.Like, ref)
		return b.IsConfigured(fields) && (b.Like == nil) == (like == nil)
	})
	if i < 0 {
		return
	}
	way := ways[i]
	name := c.nameOf(ref.Name)
	gvk, spec := way.Object.Fill(catalog.BackupValues{Name: ref.Name, Backup: name, Stamp: c.stamp, Object: fields, Like: like})
	if _, served := c.Kinds.Kind(gvk.GroupKind()); !served {
		return
	}
	c.own(ref)
	o := newObject(gvk, ref.Namespace, name, c.labels(), spec)
	c.saved[id] = &Part{Object: ref, Method: ByOperator, Provider: way.Method, Backup: object.RefOf(o), Reason: way.Condition() + " is set", Create: o}
	c.plan.Parts = append(c.plan.Parts, *c.saved[id])
	if way.Local {
		c.plan.Notes = append(c.plan.Notes, fmt.Sprintf("the backup of %s can only be restored in its namespace %s", ref, ref.Namespace))
	}
}

// like is the object by which the user backs up another one already; nil for none.
func (c *computer) like(l *catalog.BackupLike, ref object.Ref) map[string]any {
	if l == nil {
		return nil
	}
	var found map[string]any
	first := ""
	for o, fields := range c.Whole {
		// One of an earlier backup has its own prefix in the store: the user's is the one to take.
		own := Text(fields, "metadata", "labels", NameLabel) != ""
		if o.GroupKind() == declare.GroupKind(l.Kind) && o.Namespace == ref.Namespace && !own && l.Matches(fields, ref.Name) && (first == "" || o.Name < first) {
			found, first = fields, o.Name
		}
	}
	return found
}

// nameOf is the name of a backup object: short, since operators name Jobs and Pods after it.
func (c *computer) nameOf(name string) string {
	const longest = 52
	room := longest - len(c.stamp) - 1
	return strings.TrimRight(name[:min(len(name), room)], "-.") + "-" + c.stamp
}

func (c *computer) labels() map[string]string {
	return map[string]string{NameLabel: c.plan.Name}
}

// claim plans a snapshot of a claim, unless the operator of its owner saves it.
func (c *computer) claim(id graph.ID, ref object.Ref) {
	fields := c.Whole[ref]
	if fields == nil {
		c.unsaved(ref, "it could not be read", "")
		return
	}
	c.missing, c.stated = "", false
	p := Part{Object: ref, Method: BySnapshot, Reason: "no operator makes it"}
	size, _ := resource.ParseQuantity(cmp.Or(Text(fields, "status", "capacity", "storage"), Text(fields, "spec", "resources", "requests", "storage")))
	for _, owner := range c.Graph.OwnerPath(id, graph.StackOptions{}) {
		above := c.Graph.Ref(owner)
		part, known := c.saved[owner]
		switch {
		case part != nil:
			c.total.Add(size)
			c.addSize(above, size)
			return
		case known:
			c.missing, c.stated = requirements(above), true
			p.Reason = fmt.Sprintf("%s has no backup configured: %s is not set", above, c.missing)
			if c.missing == "" {
				p.Reason = fmt.Sprintf("the operator of %s has no object that makes a backup: %s", above, catalog.Backups(above.GroupKind())[0].Manual)
			}
		case above.GroupKind() == setKind:
			p.Set = &above
		case p.Owner == nil && len(c.Graph.OwnersOf(owner)) == 0:
			p.Reason = above.String() + ": the catalog knows no backup by its operator"
		}
		if p.Owner == nil {
			p.Owner = &above
			c.own(above)
		}
	}
	if c.plan.Consistency == Crash {
		p.Reason = "all claims are saved in one go"
	}
	p.Size = size.String()
	if c.snapshot(p, fields) {
		c.total.Add(size)
	}
}

// requirements are the fields that configure the backups of a kind.
func requirements(owner object.Ref) string {
	var out []string
	for _, way := range catalog.Backups(owner.GroupKind()) {
		if text := way.Condition(); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, " or ")
}

// addSize adds the size of a claim to the part of its owner.
func (c *computer) addSize(owner object.Ref, size resource.Quantity) {
	for i := range c.plan.Parts {
		if p := &c.plan.Parts[i]; p.Object == owner {
			sum, _ := resource.ParseQuantity(cmp.Or(p.Size, "0"))
			sum.Add(size)
			p.Size = sum.String()
		}
	}
}

// snapshot plans the VolumeSnapshot of a claim, if one can be taken.
func (c *computer) snapshot(p Part, fields map[string]any) bool {
	volume := Text(fields, "spec", "volumeName")
	if volume == "" {
		c.plan.Notes = append(c.plan.Notes, p.Object.String()+" has no volume yet: it holds no data")
		return false
	}
	driver, wrong := c.driver(volume, fields)
	if wrong != "" {
		c.noSnapshot(p, wrong, "move it to a storage class of a CSI driver that takes snapshots, or copy its data by hand")
		return false
	}
	if _, served := c.Kinds.Kind(snapshotKind); !served {
		c.noSnapshot(p, "the cluster serves no VolumeSnapshots", "kubectl sysop install volume-snapshot; the CSI driver has to support snapshots")
		return false
	}
	class, wrong := c.class(SnapshotClassKind, defaultClass, driver)
	if wrong != "" {
		c.noSnapshot(p, wrong, "create a VolumeSnapshotClass with driver: "+driver+" and the annotation "+defaultClass+`: "true"`)
		return false
	}
	spec := map[string]any{"volumeSnapshotClassName": class, "source": map[string]any{"persistentVolumeClaimName": p.Object.Name}}
	p.Create = newObject(snapshotKind.WithVersion("v1"), p.Object.Namespace, c.nameOf(p.Object.Name), c.labels(), spec)
	p.Backup, p.Provider, p.Driver = object.RefOf(p.Create), class, driver
	p.Claim = claimSpec(fields)
	c.plan.Parts = append(c.plan.Parts, p)
	return true
}

// noteDeletions says which classes delete the snapshots of the plan with their namespaces.
func (c *computer) noteDeletions() {
	for i := range c.plan.Parts {
		p := &c.plan.Parts[i]
		class := object.Ref{Group: SnapshotGroup, Kind: SnapshotClassKind.Kind, Name: p.Provider}
		if p.IsGroup() {
			class.Group, class.Kind = GroupSnapshotClassKind.Group, GroupSnapshotClassKind.Kind
		}
		if p.Method != BySnapshot || Text(c.Whole[class], "deletionPolicy") == "Retain" {
			continue
		}
		note := fmt.Sprintf("%s %s deletes a snapshot with its namespace: deletionPolicy: Retain keeps it for a restore elsewhere", class.Kind, class.Name)
		if !slices.Contains(c.plan.Notes, note) {
			c.plan.Notes = append(c.plan.Notes, note)
		}
	}
}

// noSnapshot notes a claim of which no snapshot can be taken.
func (c *computer) noSnapshot(p Part, reason, hint string) {
	if c.stated {
		reason += "; " + p.Reason
	}
	if c.missing != "" {
		hint = "set " + c.missing + " of " + p.Owner.String() + ", or " + hint
	}
	c.unsaved(p.Object, reason, hint)
}

// driver is the CSI driver of a volume, or why there is none.
func (c *computer) driver(volume string, claim map[string]any) (driver, wrong string) {
	if fields := c.Whole[object.Ref{Kind: VolumeKind.Kind, Name: volume}]; fields != nil {
		if driver = Text(fields, "spec", "csi", "driver"); driver == "" {
			return "", "its volume " + volume + " is not of a CSI driver"
		}
		return driver, ""
	}
	name := Text(claim, "spec", "storageClassName")
	driver = Text(c.Whole[object.Ref{Group: StorageClassKind.Group, Kind: StorageClassKind.Kind, Name: name}], "provisioner")
	if driver == "" {
		return "", "neither its volume " + volume + " nor its StorageClass could be read: its driver is unknown"
	}
	return driver, ""
}

// defaultClass marks the VolumeSnapshotClass that is used of several for one driver.
const defaultClass = "snapshot.storage.kubernetes.io/is-default-class"

// class is the class of a kind for a driver, or why there is none; the annotation marks the one that is
// used of several.
func (c *computer) class(kind schema.GroupKind, annotation, driver string) (class, wrong string) {
	var all, marked []string
	for ref, fields := range c.Whole {
		if ref.GroupKind() != kind || Text(fields, "driver") != driver {
			continue
		}
		all = append(all, ref.Name)
		if notes, _, _ := unstructured.NestedStringMap(fields, "metadata", "annotations"); notes[annotation] == "true" {
			marked = append(marked, ref.Name)
		}
	}
	switch {
	case len(all) == 0:
		return "", "no " + kind.Kind + " has the driver " + driver
	case len(marked) == 1:
		return marked[0], ""
	case len(all) == 1:
		return all[0], ""
	}
	slices.Sort(all)
	return "", fmt.Sprintf("the driver %s has several %ses (%s), and not one of them is the default", driver, kind.Kind, object.ShortList(all))
}

// claimSpec is what a restore needs of the spec of a claim.
func claimSpec(fields map[string]any) map[string]any {
	spec, _ := fields["spec"].(map[string]any)
	out := map[string]any{}
	for _, key := range []string{"accessModes", "resources", "storageClassName", "volumeMode"} {
		if v, ok := spec[key]; ok {
			out[key] = v
		}
	}
	return out
}

// Text is a text in fields; empty for none.
func Text(fields map[string]any, path ...string) string {
	value, _, _ := unstructured.NestedString(fields, path...)
	return value
}

// HandleOf returns where the data of a part lies, by the operator that saved it.
func HandleOf(p *Part) string {
	way, ok := wayOf(p)
	if !ok || way.Handle == "" {
		return ""
	}
	path, err := field.Parse(way.Handle)
	if err != nil {
		return ""
	}
	for _, v := range path.Find(p.Result) {
		return field.Scalar(v)
	}
	return ""
}

// ScheduleOf returns what makes the operator of a part back it up by a schedule; empty for nothing.
func ScheduleOf(p *Part) string {
	way, _ := wayOf(p)
	return way.Schedule
}

// wayOf finds the way in the catalog that a part was saved by.
func wayOf(p *Part) (catalog.Backup, bool) {
	for _, way := range catalog.Backups(p.Object.GroupKind()) {
		if way.Method == p.Provider {
			return way, true
		}
	}
	return catalog.Backup{}, false
}
