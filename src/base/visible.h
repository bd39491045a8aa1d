/* What the libraries beside the core (data, inspect, chip, view) use of its inside. These functions leave the shared
 * library under a version that is private to one release (cmake/millwright.map.in), so that no other release of a
 * sibling finds them.
 */
#ifndef MW__BASE_VISIBLE_H
#define MW__BASE_VISIBLE_H

#include <millwright/status.h>

/* Empty where there are no siblings: in the amalgamation, which is compiled as one. */
#ifndef MW__SIBLING
#define MW__SIBLING MW_API
#endif

#endif
