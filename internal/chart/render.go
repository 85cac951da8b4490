package chart

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	helm "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
)

const notesFile = "NOTES.txt"

// Render renders a chart with values and splits the output. It does no I/O: lookup finds nothing,
// names are not resolved, and nothing is fetched. Options.Bounds limit it; the error names the
// template that exceeds them. After that, its goroutine may run for a moment, without effect.
//
// It validates values against the schemas of the chart, except references outside of these. A run
// must skip that (SkipSchemaValidation), since Helm would fetch such references.
func Render(ctx context.Context, c *Chart, opts Options) (*Rendered, error) {
	opts.Bounds = opts.Bounds.whole()
	if err := chartutil.ValidateReleaseName(opts.Release); err != nil {
		return nil, fmt.Errorf("render %s: the name of the release %q: %w", c.Name(), opts.Release, err)
	}
	g := &renderLimit{bounds: opts.Bounds}
	var out *Rendered
	err := g.run(ctx, func() error {
		r, err := render(ctx, g, c, opts)
		out = r
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", c.Name(), err)
	}
	return out, nil
}

func (b Bounds) whole() Bounds {
	d := DefaultBounds
	return Bounds{Time: cmp.Or(b.Time, d.Time), Output: cmp.Or(b.Output, d.Output), Objects: cmp.Or(b.Objects, d.Objects), Memory: cmp.Or(b.Memory, d.Memory)}
}

func render(ctx context.Context, g *renderLimit, c *Chart, opts Options) (*Rendered, error) {
	values := copyValues(opts.Values)
	processed := c.Copy()
	if err := chartutil.ProcessDependencies(processed, values); err != nil {
		return nil, fmt.Errorf("select the subcharts: %w", err)
	}
	crds, err := definitions(c, processed)
	if err != nil {
		return nil, err
	}
	caps, err := capabilities(crds, opts)
	if err != nil {
		return nil, err
	}
	if want := processed.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, caps.KubeVersion.String()) {
		return nil, fmt.Errorf("the chart requires Kubernetes %s, and the cluster has %s", want, caps.KubeVersion.Version)
	}
	warnings, err := closeSchemas(processed)
	if err != nil {
		return nil, err
	}
	release := common.ReleaseOptions{
		Name: opts.Release, Namespace: opts.Namespace, Revision: max(opts.Revision, 1), IsUpgrade: opts.Upgrade, IsInstall: !opts.Upgrade,
	}
	tops, err := commonutil.ToRenderValues(processed, values, release, caps)
	if err != nil {
		return nil, err
	}
	files, err := execute(ctx, g, processed, tops)
	if err != nil {
		return nil, err
	}
	notes := takeNotes(files, c.Name())
	docs, err := readFiles(files)
	if err != nil {
		return nil, err
	}
	p, err := part(docs, crds, opts)
	if err != nil {
		return nil, err
	}
	p.out.Notes = notes
	p.out.Warnings = append(warnings, p.out.Warnings...)
	return p.out, p.weigh(c, opts)
}

// execute renders the files of a chart with Helm's engine, on instrumented templates.
func execute(ctx context.Context, g *renderLimit, c *helm.Chart, values common.Values) (map[string]string, error) {
	instrumentChart(c)
	e := engine.Engine{CustomTemplateFuncs: EngineFuncs(false)}
	maps.Copy(e.CustomTemplateFuncs, g.funcs())
	files, err := e.RenderWithContext(ctx, c, values)
	if err != nil {
		return nil, errors.New(strings.TrimSpace(strings.ReplaceAll(err.Error(), textFunc+" ", "")))
	}
	var size int64
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if size += int64(len(files[name])); size > g.bounds.Output {
			return nil, fmt.Errorf("the templates write more than %d bytes (at %s)", g.bounds.Output, name)
		}
	}
	return files, nil
}

func instrumentChart(c *helm.Chart) {
	templates := make([]*common.File, 0, len(c.Templates))
	for _, t := range c.Templates {
		name := path.Join(c.ChartFullPath(), t.Name)
		text := "{{" + tickFunc + " " + strconv.Quote(name) + "}}" + instrument(string(t.Data))
		templates = append(templates, &common.File{Name: t.Name, ModTime: t.ModTime, Data: []byte(text)})
	}
	c.Templates = templates
	for _, sub := range c.Dependencies() {
		instrumentChart(sub)
	}
}

// takeNotes removes the notes from the output of templates, and returns the chart's own; Helm omits
// those of subcharts.
func takeNotes(files map[string]string, chart string) string {
	notes := files[path.Join(chart, "templates", notesFile)]
	for name := range files {
		if strings.HasSuffix(name, notesFile) {
			delete(files, name)
		}
	}
	return notes
}

func readFiles(files map[string]string) ([]document, error) {
	var docs []document
	grows := growth()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		read, err := readFile(name, files[name], grows)
		if err != nil {
			return nil, err
		}
		docs = append(docs, read...)
	}
	return docs, nil
}
