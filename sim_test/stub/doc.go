// Package stub is a driver without hardware. It declares most of mlx5's objects,
// methods and attributes under mlx5's driver id, so that a case can ask the
// framework about kinds of attributes that rxe has none of. Its methods make an
// empty object, or answer ENODATA, which says that dispatch let the call
// through.
//
// Which operations the device has can be chosen one by one; which of them were
// called, in what order, can be read; a caller can be held in one of them; and
// completions and events can be raised. It does what the module behind the
// recorded cases of driver "stub" does on a real kernel.
package stub
