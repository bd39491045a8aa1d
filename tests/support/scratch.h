/* Folders that tests fill with anything. */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

/* Removes all that is in the folder, also folders; never follows a link. The folder stays. */
void scratch_empty(const char *folder);

#endif
