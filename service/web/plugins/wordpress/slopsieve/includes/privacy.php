<?php
/**
 * Supports WordPress's export and erasure of personal data.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

const MOST_A_PAGE = 100;

add_filter( 'wp_privacy_personal_data_exporters', __NAMESPACE__ . '\\add_exporter' );
add_filter( 'wp_privacy_personal_data_erasers', __NAMESPACE__ . '\\add_eraser', 99 );
add_action( 'admin_init', __NAMESPACE__ . '\\suggest_policy' );

/**
 * Add the exporter.
 *
 * @param array $exporters The other exporters.
 */
function add_exporter( $exporters ) {
	$exporters['slopsieve'] = array(
		'exporter_friendly_name' => __( 'Slopsieve', 'slopsieve' ),
		'callback'               => __NAMESPACE__ . '\\export_person',
	);
	return $exporters;
}

/**
 * Add the eraser before WordPress's own, which removes the e-mail address from the comments.
 *
 * @param array $erasers The other erasers.
 */
function add_eraser( $erasers ) {
	$own = array(
		'eraser_friendly_name' => __( 'Slopsieve', 'slopsieve' ),
		'callback'             => __NAMESPACE__ . '\\erase_person',
	);
	return array( 'slopsieve' => $own ) + $erasers;
}

/**
 * Return the verdicts on a person's comments.
 *
 * @param string $email The person's address.
 * @param int    $page  Which page.
 */
function export_person( $email, $page = 1 ): array {
	$ids  = comments_of( $email, (int) $page );
	$data = array();
	foreach ( $ids as $id ) {
		$verdict = get_comment_meta( $id, VERDICT, true );
		$verdict = is_array( $verdict ) ? $verdict : array();
		$named   = array(
			__( 'Known at the service as', 'slopsieve' ) => get_comment_meta( $id, THERE, true ),
			__( 'Verdict', 'slopsieve' )                 => $verdict ? headline( $verdict ) : '',
			__( 'Reasons', 'slopsieve' )                 => implode( ' ', $verdict['reasons'] ?? array() ),
		);
		$pairs   = array();
		foreach ( array_filter( $named ) as $name => $value ) {
			$pairs[] = array(
				'name'  => $name,
				'value' => $value,
			);
		}
		if ( $pairs ) {
			$data[] = array(
				'group_id'    => 'slopsieve',
				'group_label' => __( 'How comments were judged', 'slopsieve' ),
				'item_id'     => "comment-$id",
				'data'        => $pairs,
			);
		}
	}
	return array(
		'data' => $data,
		'done' => count( $ids ) < MOST_A_PAGE,
	);
}

/**
 * Delete the verdicts on a person's comments, and withdraw the comments at the service.
 *
 * @param string $email The person's address.
 * @param int    $page  Which page.
 */
function erase_person( $email, $page = 1 ): array {
	$ids     = comments_of( $email, (int) $page );
	$removed = false;
	foreach ( $ids as $id ) {
		$there   = known_as( (int) $id );
		$removed = $removed || '' !== $there || get_comment_meta( $id, STATE, true );
		if ( '' !== $there ) {
			note_withdrawal( $there );
		}
		foreach ( METAS as $key ) {
			delete_comment_meta( $id, $key );
		}
	}
	return array(
		'items_removed'  => $removed,
		'items_retained' => false,
		'messages'       => $removed ? array( __( 'The comments are withdrawn at the Slopsieve service. What it knows of the sender by keyed hashes, "slopsieve erase --email" deletes there.', 'slopsieve' ) ) : array(),
		'done'           => count( $ids ) < MOST_A_PAGE,
	);
}

/** Return a page of the comments with this e-mail address. */
function comments_of( string $email, int $page ): array {
	return get_comments(
		array(
			'fields'       => 'ids',
			'author_email' => $email,
			'status'       => 'any',
			'number'       => MOST_A_PAGE,
			'paged'        => $page,
			'orderby'      => 'comment_ID',
			'order'        => 'ASC',
		)
	);
}

/** Suggest a text for the privacy policy. */
function suggest_policy(): void {
	$words = __( 'New comments, with name, e-mail address, website, IP address, browser and how the form was filled in (counts of keys and clicks, never which), are sent to the comment filter that we run ourselves. It keeps the text with its verdict, and address and e-mail as keyed hashes alone.', 'slopsieve' );
	wp_add_privacy_policy_content( __( 'Slopsieve', 'slopsieve' ), '<p>' . esc_html( $words ) . '</p>' );
}
