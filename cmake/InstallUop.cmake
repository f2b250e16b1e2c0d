# What an install holds besides the libraries and tools that AddUop.cmake
# installs: headers (the generated ones too), what rule files include (.td and
# .pdll), the generated documents when they were made, and the package files of
# find_package(Uop).
include(CMakePackageConfigHelpers)

set(UOP_CMAKE_DIR lib/cmake/Uop)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION include
        FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.pdll")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/ DESTINATION include
        FILES_MATCHING PATTERN "*.inc"
        PATTERN CMakeFiles EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/docs/UopDialect.md
              ${PROJECT_BINARY_DIR}/docs/UopPasses.md
        DESTINATION share/doc/uop OPTIONAL)

install(EXPORT UopTargets NAMESPACE Uop:: DESTINATION ${UOP_CMAKE_DIR})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/UopConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/UopConfig.cmake
  INSTALL_DESTINATION ${UOP_CMAKE_DIR})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/UopConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/UopConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/UopConfigVersion.cmake
        DESTINATION ${UOP_CMAKE_DIR})
