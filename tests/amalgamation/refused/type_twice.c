/* Alone this is in order: only one of the two headers is here. */
#include "base/type_twice.h"

int mw_third(void) { return (mw__printable){3}.number; }
