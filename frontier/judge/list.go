package judge

// chain is the list of the rules, in the order in which they are asked. The
// first that decides is named.
var chain = []Rule{
	{Name: NoFollow, Kind: OfSite, At: Found, Judge: noFollow},
	{Name: RelNoFollow, Kind: OfSite, At: Found, Judge: relNoFollow},
	{Name: SameBody, Kind: OfTrap, At: Found, Judge: sameBody, Still: sameBodyOn},
	{Name: CleanParam, Kind: OfSite, At: Found, Judge: cleanParam},
	{Name: Host, Kind: OfScope, At: Found | Taken, Judge: host},
	{Name: Prefix, Kind: OfScope, At: Found | Taken, Judge: prefix},
	{Name: Redirects, Kind: OfScope, At: Found | Taken, Judge: redirects},
	{Name: Depth, Kind: OfScope, At: Found | Taken, Judge: depth},
	{Name: Exclude, Kind: OfScope, At: Found | Taken, Judge: exclude},
	{Name: Include, Kind: OfScope, At: Found | Taken, Judge: include},
	{Name: Length, Kind: OfTrap, At: Found, Judge: length},
	{Name: PathDepth, Kind: OfTrap, At: Found, Judge: pathDepth},
	{Name: RepeatedSegments, Kind: OfTrap, At: Found, Judge: repeatedSegments},
	{Name: FarDates, Kind: OfTrap, At: Found, Judge: farDates},
	{Name: SoftNotFound, Kind: OfTrap, At: Compared, Judge: softNotFound, Still: softNotFoundOn},
	{Name: Discovered, Kind: OfTrap, At: Offered, Judge: discovered},
	{Name: SessionID, Kind: OfTrap, At: Added, Judge: sessionID, Still: twinsOn},
	{Name: QueryOrder, Kind: OfTrap, At: Added, Judge: queryOrder, Still: twinsOn},
	{Name: QueryVariants, Kind: OfTrap, At: Added, Budget: queryVariants},
	{Name: Facets, Kind: OfTrap, At: Added, Budget: facets},
	{Name: Versions, Kind: OfTrap, At: Added, Budget: versions},
	{Name: Archives, Kind: OfTrap, At: Added, Budget: archives},
	{Name: Products, Kind: OfTrap, At: Added, Budget: products},
	{Name: Pattern, Kind: OfTrap, At: Added, Budget: pattern},
	{Name: Calendar, Kind: OfTrap, At: Added, Budget: calendar},
	{Name: Robots, Kind: OfSite, At: Taken | Asked, Judge: robots},
	{Name: SkipType, Kind: OfScope, At: Answered, Judge: skipType, Still: skipsType},
	{Name: SkipLarger, Kind: OfScope, At: Answered, Judge: skipLarger, Still: skipsLarger},
}
