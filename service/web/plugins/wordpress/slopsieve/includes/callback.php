<?php
/**
 * Receives signed messages of the service about late verdicts and about decisions.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// Recommended by Standard Webhooks 1.0.0 against replayed messages.
const MOST_MESSAGE_AGE_SECONDS = 300;
const CALLBACK_SPACE           = 'slopsieve/v1';
const CALLBACK_EVENTS          = array( 'comment.judged', 'comment.decided' );

add_action( 'rest_api_init', __NAMESPACE__ . '\\add_callback_route' );

/** Register the route that the service calls. */
function add_callback_route(): void {
	register_rest_route(
		CALLBACK_SPACE,
		'/callback',
		array(
			'methods'             => 'POST',
			'callback'            => __NAMESPACE__ . '\\hear',
			'permission_callback' => __NAMESPACE__ . '\\is_signed',
		)
	);
}

/** Return true if the service signed this message within the last minutes. */
function is_signed( \WP_REST_Request $request ): bool {
	$secret = base64_decode( preg_replace( '/^whsec_/', '', (string) connection( 'secret' ) ), true ); // phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions -- The secret's encoding.
	$id     = (string) $request->get_header( 'webhook-id' );
	$at     = (string) $request->get_header( 'webhook-timestamp' );
	if ( ! $secret || ! ctype_digit( $at ) || abs( time() - (int) $at ) > MOST_MESSAGE_AGE_SECONDS ) {
		return false;
	}
	$own = base64_encode( hash_hmac( 'sha256', "$id.$at." . $request->get_body(), $secret, true ) ); // phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions -- The signature's encoding.
	foreach ( explode( ' ', (string) $request->get_header( 'webhook-signature' ) ) as $given ) {
		if ( hash_equals( "v1,$own", $given ) ) {
			return true;
		}
	}
	return false;
}

/** Process a message; with status 503 the service sends it again. */
function hear( \WP_REST_Request $request ): \WP_REST_Response {
	$message = $request->get_json_params();
	$data    = is_array( $message['data'] ?? null ) ? $message['data'] : array();
	$comment = comment_sent_as( (string) ( $data['site_comment_id'] ?? '' ) );
	if ( ! $comment ) {
		return new \WP_REST_Response( array( 'status' => 'ignored' ) );
	}
	$id      = (int) $comment->comment_ID;
	$decided = 'comment.decided' === ( $message['type'] ?? '' );
	if ( WAITING !== get_comment_meta( $id, STATE, true ) ) {
		$heard = ! $decided || agree( $id );
	} elseif ( time() - (int) get_comment_meta( $id, ASKED, true ) < BUSY_SECONDS ) {
		// A running request receives the verdict, but not a later decision.
		$heard = ! $decided;
	} else {
		update_comment_meta( $id, THERE, sanitize_text_field( (string) ( $data['id'] ?? '' ) ) );
		$heard = try_again( $id );
	}
	if ( $heard && wp_next_scheduled( RETRY ) ) {
		// The service is available again, so retry without waiting for a visitor.
		wp_clear_scheduled_hook( RETRY );
		wp_schedule_single_event( time() - 1, RETRY );
		spawn_cron();
	}
	return new \WP_REST_Response( array( 'status' => $heard ? 'done' : 'later' ), $heard ? 200 : 503 );
}
