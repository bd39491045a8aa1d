/* Prints what the files of tree/ make of the names that they share; the same as one file and as two. */
#include "millwright.h"

int main(void)
{
    mw_first();
    mw_second();
    return 0;
}
