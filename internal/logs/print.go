package logs

import (
	"fmt"
	"hash/fnv"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// Filter chooses lines by their text, without colour codes: those that match one of Only, if there are
// any, and none of Never.
type Filter struct{ Only, Never []*regexp.Regexp }

func (f Filter) takes(text string) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(text) }
	return (len(f.Only) == 0 || slices.ContainsFunc(f.Only, matches)) && !slices.ContainsFunc(f.Never, matches)
}

// colourCodes are what programs put into lines to colour them.
var colourCodes = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// plain is the text of a line without its colours.
func plain(text string) string {
	if !strings.Contains(text, "\x1b[") {
		return text
	}
	return colourCodes.ReplaceAllString(text, "")
}

// Printer prints lines, each in one piece: as a JSON document, or for people behind the name of the
// container.
type Printer struct {
	Out        io.Writer
	JSON       bool
	Width      int // of the terminal; 0 where it is none, so that no name is cut or padded
	Color      bool
	NoPrefix   bool
	Timestamps bool

	filter Filter
	home   string               // the namespace that need not be written
	labels map[Container]string // of containers by namespace, pod and name
	widest int
}

// begin sizes the label column for the containers.
func (p *Printer) begin(f Filter, home string, all []Container) {
	p.filter, p.home = f, home
	for _, c := range all {
		p.widest = max(p.widest, utf8.RuneCountInString(p.name(c)))
	}
}

// line prints a line, if the filter takes it.
func (p *Printer) line(l Line) error {
	text := plain(l.Text)
	if !p.filter.takes(text) {
		return nil
	}
	if p.JSON {
		return render.JSONLine(p.Out, view.LogLineDocument{
			Head: view.Head{APIVersion: view.APIVersion, Kind: "LogLine"}, Namespace: l.Container.Namespace, Pod: l.Container.Pod, Container: l.Container.Name,
			Node: l.Container.Node, Time: l.Stamp, Message: l.Text, Cut: l.Cut,
		})
	}
	var b strings.Builder
	if !p.NoPrefix {
		b.WriteString(p.label(l.Container))
	}
	if p.Timestamps && l.Stamp != "" {
		b.WriteString(render.Escape(l.Stamp) + " ")
	}
	p.text(&b, text)
	if l.Cut > 0 {
		fmt.Fprintf(&b, "… (%d bytes more)", l.Cut)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(p.Out, b.String())
	return err
}

// text writes what a line says, with what was looked for standing out.
func (p *Printer) text(b *strings.Builder, text string) {
	at := 0
	if p.Color {
		for _, found := range spans(p.filter.Only, text) {
			b.WriteString(printable(text[at:found[0]]))
			b.WriteString("\x1b[1;7m" + printable(text[found[0]:found[1]]) + "\x1b[0m")
			at = found[1]
		}
	}
	b.WriteString(printable(text[at:]))
}

// spans are where expressions match, in order, none in another.
func spans(all []*regexp.Regexp, text string) [][]int {
	var found [][]int
	for _, re := range all {
		found = append(found, re.FindAllStringIndex(text, -1)...)
	}
	slices.SortFunc(found, slices.Compare)
	end := 0
	return slices.DeleteFunc(found, func(s []int) bool {
		if s[0] < end || s[0] == s[1] {
			return true
		}
		end = s[1]
		return false
	})
}

// printable is text as a terminal may see it. Tabs lay lines out.
func printable(text string) string {
	if !strings.Contains(text, "\t") {
		return render.Escape(text)
	}
	parts := strings.Split(text, "\t")
	for i := range parts {
		parts[i] = render.Escape(parts[i])
	}
	return strings.Join(parts, "\t")
}

// label is what stands before the lines of a container.
func (p *Printer) label(c Container) string {
	key := Container{Namespace: c.Namespace, Pod: c.Pod, Name: c.Name}
	if label, ok := p.labels[key]; ok {
		return label
	}
	name := p.name(c)
	pad := ""
	if p.Width > 0 {
		p.widest = max(p.widest, utf8.RuneCountInString(name))
		pad = strings.Repeat(" ", p.widest-utf8.RuneCountInString(name))
	}
	label := paintPod(name+pad+" |", c, p.Color) + " "
	if p.labels == nil {
		p.labels = map[Container]string{}
	}
	p.labels[key] = label
	return label
}

// name is pod and container, cut to the columns that there are: the container at its end,
// the pod in the middle, since its end tells it from its siblings.
func (p *Printer) name(c Container) string {
	pod, container := render.Escape(c.Pod), render.Escape(c.Name)
	if c.Namespace != p.home {
		pod = render.Escape(c.Namespace) + "/" + pod
	}
	columns := max(p.Width*2/5, 16) // of a terminal
	if p.Width > 0 && utf8.RuneCountInString(pod)+1+utf8.RuneCountInString(container) > columns {
		container = cutTo(container, max(columns/3, columns-1-utf8.RuneCountInString(pod)), 0)
		room := columns - 1 - utf8.RuneCountInString(container)
		pod = cutTo(pod, room, (room-1)*3/5)
	}
	return pod + " " + container
}

// cutTo shortens text to so many characters, of which so many are its last.
func cutTo(text string, most, last int) string {
	all := []rune(text)
	if len(all) <= most || most < 1 {
		return text
	}
	return string(all[:most-1-last]) + "…" + string(all[len(all)-last:])
}

// podColours are those of a terminal that are seen on black and on white.
var podColours = []int{36, 32, 33, 35, 34, 96, 92, 93, 95, 94}

// paintPod colours text for a pod: always the same for the same name.
func paintPod(text string, c Container, color bool) string {
	if !color {
		return text
	}
	h := fnv.New32a()
	_, _ = io.WriteString(h, c.Namespace+"/"+c.Pod) // A hash takes everything.
	return "\x1b[" + strconv.Itoa(podColours[h.Sum32()%uint32(len(podColours))]) + "m" + text + "\x1b[0m"
}

// Patterns compiles regular expressions, which were given by a flag.
func Patterns(flag string, texts []string) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, text := range texts {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, hint.With(fmt.Errorf("%s %q: %w", flag, text, err), `expected a regular expression of Go (RE2); \ escapes the next character`)
		}
		out = append(out, re)
	}
	return out, nil
}
