# A port for vcpkg. It has not been run: SOURCE is a folder or the archive of ./run release.
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${MILLWRIGHT_SOURCE}")
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DMW_BUILD_TESTS=OFF -DMW_BUILD_EXAMPLES=OFF -DMW_BUILD_BENCH=OFF
    -DMW_TOOL=OFF -DMW_PLIST=OFF -DMW_MPI=OFF -DMW_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/millwright)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
