package usage

// noAI reads the directives noai and noimageai in meta robots, X-Robots-Tag and Robots-Tag.
// DeviantArt introduced them; they are not standardized.
var noAI = &Reader{
	Name: "noai",
	Words: map[string]Statement{
		"noai":      {Category: TrainAI, Value: No},
		"noimageai": {Category: TrainAI, Value: No, For: ForImages},
	},
}
