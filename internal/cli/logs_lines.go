package cli

import (
	"fmt"
	"hash/fnv"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-sysop/kubectl-sysop/internal/logs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// lineFilter chooses lines by their text.
type lineFilter struct{ only, never []*regexp.Regexp }

func (f lineFilter) takes(text string) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(text) }
	return (len(f.only) == 0 || slices.ContainsFunc(f.only, matches)) && !slices.ContainsFunc(f.never, matches)
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

// lineWriter writes the lines of logs, each in one piece.
type lineWriter interface {
	line(logs.Line) error
}

// jsonLines writes each line as a document.
type jsonLines struct{ out io.Writer }

func (j jsonLines) line(l logs.Line) error {
	return render.JSONLine(j.out, view.LogLineDocument{
		Head: view.Head{APIVersion: view.APIVersion, Kind: "LogLine"}, Namespace: l.Container.Namespace, Pod: l.Container.Pod, Container: l.Container.Name,
		Node: l.Container.Node, Time: l.Stamp, Message: l.Text, Cut: l.Cut,
	})
}

// textLines writes lines for people, behind a label.
type textLines struct {
	out     io.Writer
	home    string // the namespace that need not be written
	columns int    // that a label may take; 0 where nothing is cut or padded
	color   bool
	prefix  bool
	stamps  bool
	marks   []*regexp.Regexp // what is to be seen in a line

	labels map[logs.Container]string // of containers by namespace, pod and name
	widest int
}

func (t *textLines) line(l logs.Line) error {
	var b strings.Builder
	if t.prefix {
		b.WriteString(t.label(l.Container))
	}
	if t.stamps && l.Stamp != "" {
		b.WriteString(safe(l.Stamp) + " ")
	}
	t.text(&b, plain(l.Text))
	if l.Cut > 0 {
		fmt.Fprintf(&b, "… (%d bytes more)", l.Cut)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(t.out, b.String())
	return err
}

// text writes what a line says, with what was looked for standing out.
func (t *textLines) text(b *strings.Builder, text string) {
	at := 0
	if t.color {
		for _, found := range spans(t.marks, text) {
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
		return safe(text)
	}
	parts := strings.Split(text, "\t")
	for i := range parts {
		parts[i] = safe(parts[i])
	}
	return strings.Join(parts, "\t")
}

// know sizes the label column for the containers.
func (t *textLines) know(all []logs.Container) {
	for _, c := range all {
		t.widest = max(t.widest, utf8.RuneCountInString(t.name(c)))
	}
	clear(t.labels)
}

// label is what stands before the lines of a container.
func (t *textLines) label(c logs.Container) string {
	key := logs.Container{Namespace: c.Namespace, Pod: c.Pod, Name: c.Name}
	if label, ok := t.labels[key]; ok {
		return label
	}
	name := t.name(c)
	pad := ""
	if t.columns > 0 {
		t.widest = max(t.widest, utf8.RuneCountInString(name))
		pad = strings.Repeat(" ", t.widest-utf8.RuneCountInString(name))
	}
	label := paintPod(name+pad+" |", c, t.color) + " "
	if t.labels == nil {
		t.labels = map[logs.Container]string{}
	}
	t.labels[key] = label
	return label
}

// name is pod and container, cut to the columns that there are: the container at its end,
// the pod in the middle, since its end tells it from its siblings.
func (t *textLines) name(c logs.Container) string {
	pod, container := safe(c.Pod), safe(c.Name)
	if c.Namespace != t.home {
		pod = safe(c.Namespace) + "/" + pod
	}
	if t.columns > 0 && utf8.RuneCountInString(pod)+1+utf8.RuneCountInString(container) > t.columns {
		container = cutTo(container, max(t.columns/3, t.columns-1-utf8.RuneCountInString(pod)), 0)
		room := t.columns - 1 - utf8.RuneCountInString(container)
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
func paintPod(text string, c logs.Container, color bool) string {
	if !color {
		return text
	}
	h := fnv.New32a()
	_, _ = io.WriteString(h, c.Namespace+"/"+c.Pod) // A hash takes everything.
	return "\x1b[" + strconv.Itoa(podColours[h.Sum32()%uint32(len(podColours))]) + "m" + text + "\x1b[0m"
}
