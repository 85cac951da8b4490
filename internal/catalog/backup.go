package catalog

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Backup is how the operator of a kind backs up the data of an object of it, and restores it.
//
// Its texts have placeholders. {{name}} is the name of the object, {{backup}} that of its backup
// and {{stamp}} the time of the backup, or of the restore; {{object.PATH}}, {{backup.PATH}} and
// {{like.PATH}} are values of the object, of its backup and of the object that it is like, {{key.PATH}}
// is the first key of a mapping of the object, and {{path.PATH}} the path of a URL of its backup.
// {{A|B}} is the first of them that has a value. A text that is one placeholder becomes its value, of
// any type; a field without a value is left out, and so is one whose key is a placeholder without one.
type Backup struct {
	// Method names this way for people, where a kind has several.
	Method string `json:"method" read:",required,unique"`
	// Requires is a field of the object that has to be set, and Value what it has to be; empty for
	// any value.
	Requires string `json:"requires,omitempty" read:"fieldPath"`
	Value    string `json:"value,omitempty"`
	// Unless is a field of the object with which it would not be saved as a whole.
	Unless string `json:"unless,omitempty" read:"fieldPath"`
	// Like is a backup that the user made or scheduled: it names the store, where the object does not.
	Like *BackupLike `json:"like,omitempty"`
	// Object is the object to create. It is done when it is Healthy. Manual says how a backup is made
	// instead, where the operator has no object that makes one.
	Object BackupObject `json:"object,omitzero"`
	Manual string       `json:"manual,omitempty"`
	// Schedule is what makes the operator back up by a schedule: a kind, or a field of the object.
	Schedule string `json:"schedule,omitempty"`
	// Local says that the backup can only be restored in its own namespace.
	Local bool `json:"local,omitempty"`
	// Handle is the field of that object that says where the data lies.
	Handle string `json:"handle,omitempty" read:"fieldPath"`
	// Patch is what a restore merges into the object before it is created; Restore is what it
	// creates when that object is Healthy. With neither, a restore is done by hand.
	Patch   map[string]any `json:"patch,omitempty" read:"values"`
	Restore *BackupObject  `json:"restore,omitempty"`
	Source  string         `json:"source" read:",required"`
}

// BackupLike is an object that backs up another one.
type BackupLike struct {
	Kind    string `json:"kind" read:"customKind,required"`
	Version string `json:"version" read:"apiVersion,required"`
	// Field is the field of it that names the object, and Requires another one that has to be set.
	Field    string `json:"field" read:"fieldPath,required"`
	Requires string `json:"requires" read:"fieldPath,required"`
}

// Matches says whether fields are of an object that backs up the one of a name.
func (l *BackupLike) Matches(fields map[string]any, name string) bool {
	return isSet(fields, l.Field, name) && isSet(fields, l.Requires, "")
}

// BackupObject is the template of an object.
type BackupObject struct {
	Kind    string         `json:"kind" read:"customKind,required"` // Kind.group
	Version string         `json:"version" read:"apiVersion,required"`
	Spec    map[string]any `json:"spec" read:"values,required"`
}

// Backups returns how objects of a kind are backed up by their operator; nil where the catalog
// knows no way.
func Backups(gk schema.GroupKind) []Backup {
	_, kind, _ := KindOf(object.Resource{Group: gk.Group, Kind: gk.Kind})
	return kind.Backup
}

// IsConfigured says whether an object has what the backup requires.
func (b *Backup) IsConfigured(fields map[string]any) bool {
	return b.Manual == "" && (b.Requires == "" || isSet(fields, b.Requires, b.Value)) && (b.Unless == "" || !isSet(fields, b.Unless, ""))
}

// Condition says what configures the backup, for people.
func (b *Backup) Condition() string {
	if b.Like != nil {
		return b.Like.Requires + " of a " + b.Like.Kind
	}
	return b.Requires
}

// isSet says whether a field has a value; empty for any.
func isSet(fields map[string]any, path, value string) bool {
	p, err := field.Parse(path)
	if err != nil {
		return false
	}
	for _, v := range p.Find(fields) {
		if v != nil && (value == "" || field.Scalar(v) == value) {
			return true
		}
	}
	return false
}

// BackupValues are the values of the placeholders.
type BackupValues struct {
	Name, Backup, Stamp string
	// Object is what is backed up, Like what its backup is like, and BackupOf the backup itself.
	Object, Like, BackupOf map[string]any
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{([^{}]+)\}\}`) })

// Fill returns the object of a template, and its kind.
func (o *BackupObject) Fill(v BackupValues) (kind schema.GroupVersionKind, spec map[string]any) {
	filled, _ := v.Fill(o.Spec).(map[string]any)
	return declare.GroupKind(o.Kind).WithVersion(o.Version), filled
}

// Fill replaces the placeholders of a value. A field whose placeholder has no value is left out.
func (v BackupValues) Fill(template any) any {
	switch t := template.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range t {
			if name := placeholder().FindString(key); name != "" {
				found := v.value(strings.Trim(name, "{}"))
				if found == nil {
					continue
				}
				key = strings.Replace(key, name, field.Scalar(found), 1)
			}
			if filled := v.Fill(item); filled != nil || item == nil {
				out[key] = filled
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range t {
			out = append(out, v.Fill(item))
		}
		return out
	case string:
		return v.text(t)
	}
	return template
}

func (v BackupValues) text(text string) any {
	whole := placeholder().FindString(text) == text && text != ""
	if whole {
		return v.value(strings.Trim(text, "{}"))
	}
	return placeholder().ReplaceAllStringFunc(text, func(name string) string {
		found := v.value(strings.Trim(name, "{}"))
		if found == nil {
			return ""
		}
		return field.Scalar(found)
	})
}

// value is the value of a placeholder, the first that there is; nil for none.
func (v BackupValues) value(names string) any {
	for name := range strings.SplitSeq(names, "|") {
		if found := v.one(name); found != nil {
			return found
		}
	}
	return nil
}

func (v BackupValues) one(name string) any {
	from, path, _ := strings.Cut(name, ".")
	fields := v.Object
	switch name {
	case "name":
		return v.Name
	case "backup":
		return v.Backup
	case "stamp":
		return v.Stamp
	}
	switch from {
	case "backup", "path":
		fields = v.BackupOf
	case "like":
		fields = v.Like
	}
	p, err := field.Parse(path)
	if err != nil {
		return nil
	}
	for _, found := range p.Find(fields) {
		switch from {
		case "path":
			return urlPath(field.Scalar(found))
		case "key":
		default:
			return found
		}
		keys, _ := found.(map[string]any)
		var names []string
		for k := range keys {
			names = append(names, k)
		}
		if len(names) > 0 {
			return slices.Min(names)
		}
	}
	return nil
}

// urlPath is the path of a URL, without the first slash.
func urlPath(text string) any {
	u, err := url.Parse(text)
	if err != nil || u.Path == "" {
		return nil
	}
	return strings.TrimPrefix(u.Path, "/")
}

// fieldPathProblem says what is wrong with the path of a field.
func fieldPathProblem(text string) string {
	if _, err := field.Parse(text); err != nil {
		return fmt.Sprintf("%q is not the path of a field: %v", field.Shorten(text), err)
	}
	return ""
}

// PlaceholderPaths are the fields that placeholders name.
type PlaceholderPaths struct{ Object, Like, Backup []string }

// Placeholders returns the fields that the placeholders of a template name.
func Placeholders(template any) PlaceholderPaths {
	var out PlaceholderPaths
	out.add(template)
	return out
}

func (p *PlaceholderPaths) add(template any) {
	switch t := template.(type) {
	case map[string]any:
		for key, item := range t {
			p.add(key)
			p.add(item)
		}
	case []any:
		for _, item := range t {
			p.add(item)
		}
	case string:
		for _, m := range placeholder().FindAllStringSubmatch(t, -1) {
			for name := range strings.SplitSeq(m[1], "|") {
				p.addPath(name)
			}
		}
	}
}

func (p *PlaceholderPaths) addPath(name string) {
	from, path, dotted := strings.Cut(name, ".")
	switch {
	case !dotted:
	case from == "backup" || from == "path":
		p.Backup = append(p.Backup, path)
	case from == "like":
		p.Like = append(p.Like, path)
	default:
		p.Object = append(p.Object, path)
	}
}
