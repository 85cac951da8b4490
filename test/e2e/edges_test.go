package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// edgeList is a list of edges in the form of examples/*.edges. Names that
// controllers make up are canonical, so a line can be there several times.
type edgeList struct {
	wanted  map[string]int // lines, and how many edges are to be like that
	allowed map[string]bool
	refused map[string]bool
}

// parseEdges reads "A --relation--> B", "!A ..." (refused) and "#? A ..."
// (allowed).
func parseEdges(t *testing.T, text string) edgeList {
	t.Helper()
	var wanted, allowed, refused, all []edge
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		list := &wanted
		switch {
		case strings.HasPrefix(l, "#?"):
			list, l = &allowed, strings.TrimSpace(l[2:])
		case l == "" || strings.HasPrefix(l, "#"):
			continue
		case strings.HasPrefix(l, "!"):
			list, l = &refused, l[1:]
		}
		p := regexp.MustCompile(`^(\S+) --(owns|needs|serves)--> (\S+)$`).FindStringSubmatch(l)
		if p == nil {
			t.Fatalf("%q is no edge", l)
		}
		*list = append(*list, edge{From: p[1], Relation: p[2], To: p[3]})
	}
	all = slices.Concat(wanted, allowed)
	names := canonicalNames(all, nil)
	return edgeList{counted(wanted, names), set(allowed, names), set(refused, names)}
}

func set(edges []edge, names map[string]string) map[string]bool {
	out := map[string]bool{}
	for l := range counted(edges, names) {
		out[l] = true
	}
	return out
}

// counted counts edges by their canonical lines.
func counted(edges []edge, names map[string]string) map[string]int {
	out := map[string]int{}
	for _, e := range edges {
		e.From, e.To = cmp.Or(names[e.From], e.From), cmp.Or(names[e.To], e.To)
		out[e.line()]++
	}
	return out
}

// unique makes one edge of what several fields say of the same two objects.
func unique(edges []edge) []edge {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(edges), func(e edge) bool {
		again := seen[e.line()]
		seen[e.line()] = true
		return again
	})
}

// made tells which kinds a controller gives the name of their owner with
// something made up behind it.
var made = map[string][]string{
	"Deployment.apps":  {"ReplicaSet.apps"},
	"ReplicaSet.apps":  {"Pod"},
	"StatefulSet.apps": {"ControllerRevision.apps"},
	"DaemonSet.apps":   {"ControllerRevision.apps", "Pod"},
	"CronJob.batch":    {"Job.batch"},
	"Job.batch":        {"Pod"},
	"Service":          {"EndpointSlice.discovery.k8s.io"},
	// cert-manager counts: it asks again where the issuer was not ready.
	"Certificate.cert-manager.io": {"CertificateRequest.cert-manager.io"},
}

// canonicalNames gives IDs that are made up a name after what they belong to:
// web-* for the ReplicaSets of web, web-*-* for their Pods. It also takes away
// which node the scheduler chose, and the UID in the name of a volume that was
// made for a claim.
func canonicalNames(edges []edge, nodes []node) map[string]string {
	owners, out := map[string]string{}, map[string]string{}
	for _, e := range edges {
		ownerKind, _, _ := strings.Cut(e.From, "/")
		kind, _, _ := strings.Cut(e.To, "/")
		suffix := regexp.MustCompile("^" + regexp.QuoteMeta(name(e.From)) + "-[a-z0-9]+$")
		if e.Relation == "owns" && slices.Contains(made[ownerKind], kind) && suffix.MatchString(name(e.To)) {
			owners[e.To] = e.From
		}
		for _, id := range []string{e.From, e.To} {
			if strings.HasPrefix(id, "Node/") {
				out[id] = "Node/*"
			}
		}
	}
	var canonical func(id string) string
	canonical = func(id string) string {
		owner, ok := owners[id]
		if !ok {
			return name(id)
		}
		return canonical(owner) + "-*"
	}
	for id := range owners {
		out[id] = strings.TrimSuffix(id, name(id)) + canonical(id)
	}
	for _, n := range nodes {
		if n.Kind == "PersistentVolumeClaim" {
			out["PersistentVolume/pvc-"+n.UID] = "PersistentVolume/pvc-*"
		}
	}
	return out
}

// name is the last part of an ID.
func name(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// differences compares the list with the edges of a document, line by line.
// Edges that the list does not know are a difference, too.
func (l edgeList) differences(d document) []string {
	var out []string
	found := counted(unique(d.Edges), canonicalNames(d.Edges, d.Nodes))
	for line, n := range l.wanted {
		if found[line] != n {
			out = append(out, fmt.Sprintf("%d times, want %d: %s", found[line], n, line))
		}
	}
	for line, n := range found {
		switch {
		case l.refused[line]:
			out = append(out, fmt.Sprintf("refused: %s", line))
		case l.wanted[line] == 0 && !l.allowed[line]:
			out = append(out, fmt.Sprintf("%d times, not in the list: %s", n, line))
		}
	}
	slices.Sort(out)
	return out
}

// lines are the edges, each line once, sorted.
func lines(edges []edge) []string { return slices.Sorted(maps.Keys(counted(edges, nil))) }
