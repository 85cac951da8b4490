package lint

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// copies checks the fields that a copy must not have.
func (l *linter) copies(k *catalog.Kind, pos anchor) {
	if k.Copy == nil {
		return
	}
	own := backupLint{l, k.Kind, nil, "copy: "}
	for _, path := range append(catalog.Placeholders(k.Copy.Patch).Object, k.Copy.Remove...) {
		own.path(path, pos)
	}
}

// backups checks the fields that the backups of a kind read and set: of the kind itself, of the
// object that makes a backup, and of the one that restores it.
func (l *linter) backups(k *catalog.Kind, pos anchor) {
	for i := range k.Backup {
		b := &k.Backup[i]
		if b.Manual != "" {
			continue
		}
		at := pos.child(i)
		own := backupLint{l, k.Kind, nil, "backup: "}
		backup := backupLint{l, b.Object.Kind, []string{b.Object.Version}, "backup: "}
		own.path(b.Requires, at.child("requires"))
		own.path(b.Unless, at.child("unless"))
		backup.content(map[string]any{"spec": b.Object.Spec}, at.child("object"))
		backup.path(b.Handle, at.child("handle"))
		own.content(b.Patch, at.child("patch"))
		templates := []any{b.Object.Spec, b.Patch}
		if r := b.Restore; r != nil {
			backupLint{l, r.Kind, []string{r.Version}, "restore: "}.content(map[string]any{"spec": r.Spec}, at.child("restore"))
			templates = append(templates, r.Spec)
		}
		paths := catalog.Placeholders(templates)
		for _, path := range paths.Object {
			own.path(path, at)
		}
		for _, path := range paths.Backup {
			backup.path(path, at)
		}
		if b.Like != nil {
			like := backupLint{l, b.Like.Kind, []string{b.Like.Version}, "like: "}
			for _, path := range append(paths.Like, b.Like.Field, b.Like.Requires) {
				like.path(path, at.child("like"))
			}
		}
	}
}

// backupLint checks the fields of one kind.
type backupLint struct {
	l        *linter
	kind     string
	versions []string
	about    string
}

func (b backupLint) check(pos anchor, check func(field.Shape) *fault) {
	b.l.hold(use{kind: b.kind, where: pos, about: b.about, versions: b.versions, check: check})
}

func (b backupLint) path(text string, pos anchor) {
	p, err := field.Parse(text)
	if text == "" || err != nil {
		return
	}
	b.check(pos, func(shape field.Shape) *fault {
		_, wrong := at(shape, p)
		return wrong
	})
}

func (b backupLint) content(fields map[string]any, pos anchor) {
	if len(fields) > 0 {
		b.check(pos, func(shape field.Shape) *fault { return content(shape, "", fields) })
	}
}
