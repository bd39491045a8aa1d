/* The one door to the environment; tools/lint_house.awk holds the library to it. docs/environment.md lists the names.
 */
#ifndef MW__BASE_ENVIRONMENT_H
#define MW__BASE_ENVIRONMENT_H

/* The value of the variable, until the environment is changed; NULL if it is not set or empty, and always NULL in a
 * process with raised privileges (setuid, setgid, file capabilities): there the environment belongs to a stranger. */
const char *mw__environment(const char *name);

#endif
