package cli

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

// resumed is the ID of the run that did not finish, and the parts of its releases: these are waited
// for although nothing may be left to do of them.
func (p *installPlan) resumed() (id string, waiting []string) {
	if p.journal.Run == nil {
		return "", nil
	}
	for _, s := range p.journal.Run.Steps {
		if s.Release != "" {
			waiting = append(waiting, s.Part)
		}
	}
	return p.journal.Run.ID, waiting
}

// claimed notes releases that call themselves a package which is installed again.
func (p *installPlan) claimed() {
	for _, part := range p.planned.Parts {
		if hint := p.found.hint(part.Name); hint != "" && !part.App {
			p.planned.Notes = append(p.planned.Notes, hint)
		}
	}
}

// hidden notes parts whose entry in a further catalogue stands in the place of a built-in one.
func (p *installPlan) hidden() {
	builtIn := catalog.Embedded()
	for _, part := range p.planned.Parts {
		was, hides := builtIn.Find(part.Name)
		current, found := p.cats.Find(part.Name)
		if part.App || !hides || !found || reflect.DeepEqual(was, current) {
			continue
		}
		origin := p.cats.Origin(part.Name)
		p.planned.Notes = append(p.planned.Notes, fmt.Sprintf("%s is the entry of the catalog %s, which replaces the built-in one of that name", part.Name, origin))
	}
}

// unwaited skips the wait for parts without dependants, if that was requested. A part whose
// neighbours are held is waited for all the same.
func (p *installPlan) unwaited() {
	if p.o.wait || p.sys != nil && p.sys.Upgrade.Regulate {
		return
	}
	p.planned.Steps = slices.DeleteFunc(p.planned.Steps, func(s install.Step) bool {
		needed := slices.ContainsFunc(p.planned.Parts, func(o *install.Part) bool {
			return slices.Contains(o.Needs, s.Part) || slices.ContainsFunc(o.Connections, func(c install.Connection) bool { return c.Name == s.Part })
		})
		return s.Kind == install.Await && !needed
	})
}

// images holds what is known of the platforms of images against those of the nodes.
func (p *installPlan) images(ctx context.Context) error {
	platforms := map[string][]string{}
	for _, part := range p.made.parts {
		e, _ := p.cats.Find(part.Name)
		if v, ok := e.Version(part.Version); ok && !part.App {
			for _, i := range v.Images {
				if len(i.Platforms) > 0 {
					platforms[i.Image] = i.Platforms
				}
			}
		}
	}
	kind, ok := p.cluster.Kinds.Kind(schema.GroupKind{Kind: "Node"})
	if len(platforms) == 0 || !ok {
		return nil
	}
	nodes, err := p.cluster.reader.ListMetadata(ctx, kind, "", "")
	if apierrors.IsForbidden(err) {
		return nil // The platforms are unknown.
	}
	if err != nil {
		return fmt.Errorf("list the nodes: %w", err)
	}
	var nodePlatforms []string
	for _, n := range nodes {
		labels := n.GetLabels()
		if os, arch := labels["kubernetes.io/os"], labels["kubernetes.io/arch"]; os != "" && arch != "" {
			nodePlatforms = append(nodePlatforms, os+"/"+arch)
		}
	}
	refused, notes := install.CheckImages(p.made.parts, platforms, nodePlatforms)
	p.planned.Refusals = append(p.planned.Refusals, refused...)
	p.planned.Notes = append(p.planned.Notes, notes...)
	return nil
}

// unchangedReleases are the installed operators that are needed and stay unchanged.
func (p *installPlan) unchangedReleases() []install.ReleaseState {
	var out []install.ReleaseState
	for _, c := range p.chosen {
		current, found := p.there[c.Name]
		if found && !slices.ContainsFunc(p.made.parts, func(part *install.Part) bool { return part.Name == c.Name }) {
			out = append(out, install.ReleaseState{Part: c.Name, Release: current.release, Namespace: current.namespace, Version: current.version, Revision: current.revision})
		}
	}
	return out
}
