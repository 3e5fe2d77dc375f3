package usage

// noAI are directives of meta robots, X-Robots-Tag and Robots-Tag, with their agents,
// that DeviantArt began with and no standard has.
var noAI = &Reader{
	Name: "noai",
	Words: map[string]Statement{
		"noai":      {Category: TrainAI, Value: No},
		"noimageai": {Category: TrainAI, Value: No, For: ForImages},
	},
}
