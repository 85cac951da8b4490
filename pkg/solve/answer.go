package solve

import "context"

// Solve returns the packages that satisfy a question, in the order of needs: what is needed
// goes before who needs it, else by name.
func Solve(ctx context.Context, q Question) ([]Choice, error) { return solve(ctx, q) }
