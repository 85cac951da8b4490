package backup

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// PauseKey is the key of the Pause in a record.
const PauseKey = "pause.json"

// Pause is how long the apps that write to the parts were stopped.
type Pause struct {
	Apps []string `json:"apps"`
	// Serving are apps with saved data that ran on: only stopped apps of the System need them.
	Serving []string  `json:"serving,omitempty"`
	Began   time.Time `json:"began"`
	// Saved is when all parts were copied; zero if the pause ended before.
	Saved time.Time `json:"saved,omitzero"`
	Ended time.Time `json:"ended"`
	// Broken is why the copy is not quiesced.
	Broken string `json:"broken,omitempty"`
}

// Text says what the pause was.
func (p *Pause) Text() string {
	took := p.Ended.Sub(p.Began).Round(time.Second / 10)
	text := "no app of the System needs what was saved: none was stopped"
	if len(p.Apps) > 0 {
		text = fmt.Sprintf("%s stopped for %s", object.ShortList(p.Apps), took)
	}
	if len(p.Serving) > 0 {
		text += "; " + object.ShortList(p.Serving) + " ran, without what needs it"
	}
	return text
}

// Settle sets what follows from the parts and the pause: the spread of the snapshots, and that a
// copy whose pause did not last is not quiesced.
func (p *Plan) Settle() {
	var times []time.Time
	for i := range p.Parts {
		if at := p.Parts[i].Taken; !at.IsZero() {
			times = append(times, at)
		}
	}
	if len(times) > 1 {
		p.Spread = slices.MaxFunc(times, time.Time.Compare).Sub(slices.MinFunc(times, time.Time.Compare)).Round(time.Millisecond).String()
	}
	if p.Consistency != Quiesced {
		return
	}
	wrong := ""
	switch {
	case p.Pause == nil:
		wrong = "its pause is unknown"
	case p.Pause.Broken != "":
		wrong = p.Pause.Broken
	default:
		for i := range p.Parts {
			// The moment of a snapshot may be known to the second.
			if at := p.Parts[i].Taken; !at.IsZero() && at.Before(p.Pause.Began.Truncate(time.Second)) {
				wrong = p.Parts[i].Object.String() + " was taken before the apps were stopped"
			}
		}
	}
	if wrong == "" {
		return
	}
	p.Consistency, p.NotQuiesced = Application, "the backup is not quiesced: "+wrong
	p.Notes = append(p.Notes, p.NotQuiesced)
}

// Objects are those of all parts, and running those that their operators save: their apps have to
// run meanwhile.
func (p *Plan) Objects() (saved, running []object.Ref) {
	for i := range p.Parts {
		part := &p.Parts[i]
		saved = append(saved, part.Object)
		if part.Method == ByOperator {
			running = append(running, part.Object)
		}
	}
	return saved, running
}
