package chart

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	helm "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// Load reads an archive (.tgz). origin is where it was read, for people. Zero limits mean
// DefaultLimits. It checks the whole archive before Helm reads it: its size, its paths, and its
// YAML.
func Load(data []byte, origin string, limits Limits) (*Chart, error) {
	limits = limits.whole()
	name := cmp.Or(origin, "the chart")
	u := &unpacker{limits: limits, grows: growth()}
	files, err := u.unpack(name, data, 0)
	if err != nil {
		return nil, err
	}
	files, aside, err := splitCRDs(files)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	if err := checkChart(loaded); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	sortSubcharts(loaded)
	c := &Chart{Helm: loaded, Origin: origin, Digest: digest(data), archive: bytes.Clone(data)}
	for _, f := range aside {
		docs, err := readFile(f.Name, string(f.Data), u.grows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, d := range docs {
			c.Definitions = append(c.Definitions, d.object)
		}
	}
	return c, nil
}

func (l Limits) whole() Limits {
	return Limits{
		Bytes:    cmp.Or(l.Bytes, DefaultLimits.Bytes),
		Unpacked: cmp.Or(l.Unpacked, DefaultLimits.Unpacked),
		File:     cmp.Or(l.File, DefaultLimits.File),
		Files:    cmp.Or(l.Files, DefaultLimits.Files),
	}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// checkFile checks a file before Helm reads it as YAML or JSON. inner is its path in its chart.
func (u *unpacker) checkFile(chart, inner string, f *archive.BufferedFile) error {
	at := chart + ", " + f.Name
	most := u.limits.File
	switch inner {
	case "Chart.yaml", "values.yaml", "requirements.yaml", "Chart.lock", "requirements.lock":
	case "values.schema.json":
		if int64(len(f.Data)) > most {
			break
		}
		if !json.Valid(f.Data) {
			return fmt.Errorf("%s: it is not JSON", at)
		}
		return nil
	default:
		return nil
	}
	if int64(len(f.Data)) > most {
		return fmt.Errorf("%s: it has %d bytes: such a file may have at most %d", at, len(f.Data), most)
	}
	if err := checkYAML(f.Data, u.grows); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

func checkChart(c *helm.Chart) error {
	m := c.Metadata
	if m.APIVersion != helm.APIVersionV1 && m.APIVersion != helm.APIVersionV2 {
		return fmt.Errorf("Chart.yaml: apiVersion is %q: expected v1 or v2", m.APIVersion) //nolint:staticcheck // It begins with the name of a file.
	}
	if m.Type == "library" {
		return fmt.Errorf("the chart %s is a library (type: library in Chart.yaml): it has templates for other charts and cannot be installed; install a chart that uses it", m.Name)
	}
	var lacking []string
	for _, d := range m.Dependencies {
		if !slices.ContainsFunc(c.Dependencies(), func(s *helm.Chart) bool { return s.Name() == d.Name }) {
			lacking = append(lacking, d.Name)
		}
	}
	if lacking != nil {
		return fmt.Errorf("Chart.yaml names subcharts that are not in charts/: %s: run helm dependency build, or use the packed chart", strings.Join(lacking, ", ")) //nolint:staticcheck // It begins with the name of a file.
	}
	return nil
}

// sortSubcharts orders the subcharts, which Helm reads in the order of a map.
func sortSubcharts(c *helm.Chart) {
	subs := slices.Clone(c.Dependencies())
	slices.SortStableFunc(subs, func(a, b *helm.Chart) int {
		return cmp.Or(cmp.Compare(a.Name(), b.Name()), cmp.Compare(a.Metadata.Version, b.Metadata.Version))
	})
	c.SetDependencies(subs...)
	for _, s := range subs {
		sortSubcharts(s)
	}
}
