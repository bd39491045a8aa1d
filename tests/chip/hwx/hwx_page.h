/* Prose of docs/hwx.md. */
#ifndef TESTS_CHIP_HWX_HWX_PAGE_H
#define TESTS_CHIP_HWX_HWX_PAGE_H

extern const char hwx_page_head[], hwx_page_container[], hwx_page_tasks[], hwx_page_published[], hwx_page_against[];

#endif
