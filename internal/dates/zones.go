package dates

// zones are offsets in seconds east of UTC. time.Parse knows only the names of the local zone
// and reads PST as +00:00. The list has the names of RFC 822 §5.1 and others in use. Military
// letters mean UTC, since RFC 822 had their signs wrong (RFC 5322 §4.3).
var zones = map[string]int{
	"z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0,
	"est": -5 * hour, "edt": -4 * hour,
	"cst": -6 * hour, "cdt": -5 * hour,
	"mst": -7 * hour, "mdt": -6 * hour,
	"pst": -8 * hour, "pdt": -7 * hour,

	"nst": -3*hour - half, "ndt": -2*hour - half,
	"ast": -4 * hour, "adt": -3 * hour,
	"akst": -9 * hour, "akdt": -8 * hour,
	"hst": -10 * hour, "hdt": -9 * hour,
	"brt": -3 * hour, "art": -3 * hour, "clt": -4 * hour, "cot": -5 * hour, "pet": -5 * hour,

	"bst": 1 * hour, "west": 1 * hour,
	"cet": 1 * hour, "cest": 2 * hour, "met": 1 * hour, "mest": 2 * hour, "mez": 1 * hour, "mesz": 2 * hour,
	"eet": 2 * hour, "eest": 3 * hour, "trt": 3 * hour,
	"msk": 3 * hour, "msd": 4 * hour, "samt": 4 * hour, "yekt": 5 * hour, "omst": 6 * hour,
	"novt": 7 * hour, "krat": 7 * hour, "irkt": 8 * hour, "yakt": 9 * hour, "vlat": 10 * hour,
	"magt": 11 * hour, "pett": 12 * hour,
	"wat": 1 * hour, "cat": 2 * hour, "sast": 2 * hour, "eat": 3 * hour, "idt": 3 * hour,

	"gst": 4 * hour, "irst": 3*hour + half, "pkt": 5 * hour, "ist": 5*hour + half,
	"ict": 7 * hour, "wib": 7 * hour,
	"hkt": 8 * hour, "sgt": 8 * hour, "myt": 8 * hour, "pht": 8 * hour, "awst": 8 * hour,
	"jst": 9 * hour, "kst": 9 * hour,
	"acst": 9*hour + half, "acdt": 10*hour + half,
	"aest": 10 * hour, "aedt": 11 * hour, "nzst": 12 * hour, "nzdt": 13 * hour,

	"a": 0, "b": 0, "c": 0, "d": 0, "e": 0, "f": 0, "g": 0, "h": 0, "i": 0, "k": 0, "l": 0, "m": 0,
	"n": 0, "o": 0, "p": 0, "q": 0, "r": 0, "s": 0, "t": 0, "u": 0, "v": 0, "w": 0, "x": 0, "y": 0,
}

const (
	hour = 3600
	half = 1800
)
