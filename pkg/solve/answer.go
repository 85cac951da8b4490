package solve

import "context"

// Solve returns the packages that satisfy a question, in the order of needs: what is needed
// goes before who needs it, else by name. What is installed is in the answer where a want
// needs it, or where it is changed.
//
// Of all answers it is the one with the wanted packages in their newest versions, in the order
// of wants; of these, the one that changes the fewest installed packages; of these, the one
// with the fewest packages besides; of these, the one with the newest versions of them, by
// name. It does not depend on the order of anything but wants and Prefer.
//
// Where packages of the best answer need each other in a circle, that is an error: no worse
// answer is looked for that has none.
//
// Without an answer the error is a *ConflictError, an *AmbiguousError or a *LoopError; another
// one says what is wrong with the question itself, that it is too large or too hard (the limits
// are in limits.go), or is that of the context.
func Solve(ctx context.Context, q Question) ([]Choice, error) {
	u, err := newUniverse(ctx, &q)
	if err != nil {
		return nil, err
	}
	r, err := newRules(ctx, u)
	if err != nil {
		return nil, err
	}
	ok, core, err := r.solve(ctx, r.all())
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, r.explain(ctx, core)
	}
	if err := r.best(ctx); err != nil {
		return nil, err
	}
	return r.answer()
}
